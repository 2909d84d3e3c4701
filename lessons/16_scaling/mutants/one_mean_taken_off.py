"""Only 1 is taken off the number of values, and there are two means."""

from pathlib import Path

from lessons.mutation import changed

globals().update(
    changed(
        Path(__file__).parents[1] / "solution.py",
        ("freedom = len(first) + len(second) - 2", "freedom = len(first) + len(second) - 1"),
        ("if freedom == 0", "if freedom == 1"),
    )
)
