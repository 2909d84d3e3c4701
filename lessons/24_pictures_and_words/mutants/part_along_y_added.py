"""The part of dy along y is added, and should be taken off."""

from pathlib import Path

from lessons.mutation import changed

globals().update(
    changed(
        Path(__file__).parents[1] / "solution.py",
        ("(dy - y *", "(dy + y *"),
    )
)
