"""Only the first half of the all-reduce is counted."""

from pathlib import Path

from lessons.mutation import changed

globals().update(
    changed(
        Path(__file__).parents[1] / "solution.py",
        ("return 2 * (ranks - 1) *", "return (ranks - 1) *"),
    )
)
