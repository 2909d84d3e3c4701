"""The outputs are never divided by the sum."""

from pathlib import Path

from lessons.mutation import changed

globals().update(
    changed(
        Path(__file__).parents[1] / "solution.py",
        ("o[rows] = mix / total", "o[rows] = mix"),
    )
)
