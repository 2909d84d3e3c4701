"""The check never tries a tall matrix."""

from pathlib import Path

from lessons.mutation import changed

globals().update(
    changed(
        Path(__file__).parents[1] / "solution.py",
        ("(8, 3), ", ""),
    )
)
