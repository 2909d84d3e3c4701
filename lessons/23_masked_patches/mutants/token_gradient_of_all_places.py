"""The mask token gets the gradients of all places, those in sight included."""

from pathlib import Path

from lessons.mutation import changed

globals().update(
    changed(Path(__file__).parents[1] / "solution.py", ("dz[hidden].sum(axis=0)", "dz.sum(axis=(0, 1))"))
)
