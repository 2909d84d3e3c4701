"""The neighbours are taken to be in sight independently of one another."""

from pathlib import Path

from lessons.mutation import changed

globals().update(
    changed(
        Path(__file__).parents[1] / "solution.py",
        ("comb(patches - 1 - near, seen) / comb(patches - 1, seen)", "(1 - seen / (patches - 1)) ** near"),
    )
)
