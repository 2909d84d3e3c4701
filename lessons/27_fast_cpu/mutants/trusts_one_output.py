"""One output is tried, and no more."""

from pathlib import Path

from lessons.mutation import changed

globals().update(
    changed(
        Path(__file__).parents[1] / "solution.py",
        ("((5, 3, 4), (4, 3, 3), (3, 2, 6))", "((5, 3, 1),)"),
    )
)
