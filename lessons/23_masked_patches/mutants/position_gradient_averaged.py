"""The gradient of the positions is the mean over the pictures."""

from pathlib import Path

from lessons.mutation import changed

globals().update(changed(Path(__file__).parents[1] / "solution.py", ("dz.sum(axis=0)", "dz.mean(axis=0)")))
