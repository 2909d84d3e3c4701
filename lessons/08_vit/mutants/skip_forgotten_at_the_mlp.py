"""The gradient takes only the branch at the second addition."""

from pathlib import Path

from lessons.mutation import changed

globals().update(
    changed(
        Path(__file__).parents[1] / "solution.py",
        ("dmiddle = dy + branch  #", "dmiddle = branch  #"),
    )
)
