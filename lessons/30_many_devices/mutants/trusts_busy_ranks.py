"""No batch is smaller than the number of ranks."""

from pathlib import Path

from lessons.mutation import changed

globals().update(
    changed(
        Path(__file__).parents[1] / "solution.py",
        ("(2, 3, 5.0), ", ""),
    )
)
