"""The inputs have N = K, which hides the fault."""

from pathlib import Path

from lessons.mutation import changed

globals().update(changed(Path(__file__).parents[1] / "solution.py", ("size=(1, 5, 3)", "size=(2, 4, 4)")))
