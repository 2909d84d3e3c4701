"""The path through the mean lacks the factor r."""

from pathlib import Path

from lessons.mutation import changed

globals().update(
    changed(
        Path(__file__).parents[1] / "solution.py",
        ("-(g * r).mean", "-g.mean"),
    )
)
