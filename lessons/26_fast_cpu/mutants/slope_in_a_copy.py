"""The slope is written into a copy of h."""

from pathlib import Path

from lessons.mutation import changed

globals().update(
    changed(
        Path(__file__).parents[1] / "solution.py",
        ("    R, M = h.shape\n", "    R, M = h.shape\n    h = h.copy()\n"),
    )
)
