"""The gradient takes only the branch at the first addition."""

from pathlib import Path

from lessons.mutation import changed

globals().update(
    changed(
        Path(__file__).parents[1] / "solution.py",
        ("return dmiddle + branch, dict(", "return branch, dict("),
    )
)
