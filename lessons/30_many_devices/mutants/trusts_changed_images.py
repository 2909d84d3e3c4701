"""Of what it handed over, it looks at the weights alone."""

from pathlib import Path

from lessons.mutation import changed

globals().update(
    changed(
        Path(__file__).parents[1] / "solution.py",
        (
            "map(np.array_equal, given, (params.flat, images, labels))",
            "map(np.array_equal, given, (params.flat,))",
        ),
    )
)
