"""The error of a difference has 1 / (n + m), as one list of n + m results would, and not 1 / n + 1 / m."""

from pathlib import Path

from lessons.mutation import changed

globals().update(
    changed(
        Path(__file__).parents[1] / "solution.py",
        ("1 / len(values) + 1 / len(mine)", "1 / (len(values) + len(mine))"),
    )
)
