"""A short gradient is made longer."""

from pathlib import Path

from lessons.mutation import changed

globals().update(
    changed(
        Path(__file__).parents[1] / "solution.py",
        ("    if norm > largest:\n", "    if norm > 0:\n"),
    )
)
