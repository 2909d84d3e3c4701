"""A lane without a column works out -INFINITY - -INFINITY, which is no number."""

from pathlib import Path

from lessons.mutation import changed

globals().update(
    changed(
        Path(__file__).parents[1] / "solution.py",
        ("float largest = -1e30f", "float largest = -INFINITY"),
    )
)
