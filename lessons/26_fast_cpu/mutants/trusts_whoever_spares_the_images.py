"""Nobody looks whether the labels and the parameters have been changed."""

from pathlib import Path

from lessons.mutation import changed

globals().update(
    changed(
        Path(__file__).parents[1] / "solution.py",
        (
            "if not all(map(np.array_equal, given, (wide.flat, images, labels))):",
            "if not np.array_equal(given[1], images):",
        ),
    )
)
