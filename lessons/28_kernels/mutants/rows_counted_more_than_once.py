"""Each thread goes on by one row instead of eight."""

from pathlib import Path

from lessons.mutation import changed

globals().update(
    changed(
        Path(__file__).parents[1] / "solution.py",
        ("row += 8)", "row++)"),
    )
)
