"""The positions are not added."""

from pathlib import Path

from lessons.mutation import changed

globals().update(
    changed(Path(__file__).parents[1] / "solution.py", ("return z + positions, seen", "return z, seen"))
)
