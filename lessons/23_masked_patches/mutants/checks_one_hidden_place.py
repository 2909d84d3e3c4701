"""trust_put_back looks at the first picture alone."""

from pathlib import Path

from lessons.mutation import changed

globals().update(
    changed(
        Path(__file__).parents[1] / "solution.py",
        ("np.array([[4, 0, 3], [1, 5, 0]])", "np.array([[4, 0, 3]]); y = y[:1]"),
    )
)
