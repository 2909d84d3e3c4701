"""The stream is changed in place, and with it the caller's x."""

from pathlib import Path

from lessons.mutation import changed

globals().update(
    changed(
        Path(__file__).parents[1] / "solution.py",
        ("    x = x + a  #", "    x += a  #"),
    )
)
