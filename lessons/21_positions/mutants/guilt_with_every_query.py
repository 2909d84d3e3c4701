"""The inputs have as many queries as tokens, which hides the fault."""

from pathlib import Path

from lessons.mutation import changed

globals().update(changed(Path(__file__).parents[1] / "solution.py", ("(9, 4)", "(5, 4)")))
