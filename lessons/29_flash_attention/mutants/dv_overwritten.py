"""Every tile of queries writes over dv, and does not add to it."""

from pathlib import Path

from lessons.mutation import changed

globals().update(
    changed(
        Path(__file__).parents[1] / "solution.py",
        ("dv[columns] +=", "dv[columns] ="),
    )
)
