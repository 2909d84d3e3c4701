"""The largest begins at 0, above all scores if they are negative."""

from pathlib import Path

from lessons.mutation import changed

globals().update(
    changed(
        Path(__file__).parents[1] / "solution.py",
        ("float largest = -1e30f, total = 0;", "float largest = 0, total = 0;"),
    )
)
