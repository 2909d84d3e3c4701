"""Two standard errors, however few the results."""

from pathlib import Path

from lessons.mutation import changed

globals().update(
    changed(
        Path(__file__).parents[1] / "solution.py",
        ("LIMITS[min(freedom, 30)]", "2"),
    )
)
