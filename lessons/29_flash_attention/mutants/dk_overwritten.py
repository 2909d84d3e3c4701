"""Every tile of queries writes over dk, and does not add to it."""

from pathlib import Path

from lessons.mutation import changed

globals().update(
    changed(
        Path(__file__).parents[1] / "solution.py",
        ("dk[columns] +=", "dk[columns] ="),
    )
)
