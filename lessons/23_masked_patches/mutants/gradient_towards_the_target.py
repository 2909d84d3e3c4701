"""The gradient has the wrong sign."""

from pathlib import Path

from lessons.mutation import changed

globals().update(
    changed(Path(__file__).parents[1] / "solution.py", ("error * (2 / count)", "-error * (2 / count)"))
)
