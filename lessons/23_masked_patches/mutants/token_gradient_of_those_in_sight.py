"""The mask token gets the gradients of the places in sight."""

from pathlib import Path

from lessons.mutation import changed

globals().update(
    changed(Path(__file__).parents[1] / "solution.py", ("dz[hidden].sum(axis=0)", "dz[~hidden].sum(axis=0)"))
)
