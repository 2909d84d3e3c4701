"""The columns come before the rows."""

from pathlib import Path

from lessons.mutation import changed

globals().update(changed(Path(__file__).parents[1] / "solution.py", ("[r * f, c * f]", "[c * f, r * f]")))
