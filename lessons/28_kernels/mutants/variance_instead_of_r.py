"""What is kept for the backward is the variance, not r."""

from pathlib import Path

from lessons.mutation import changed

globals().update(
    changed(
        Path(__file__).parents[1] / "solution.py",
        ("r[row] = scale;", "r[row] = 1 / (scale * scale);"),
    )
)
