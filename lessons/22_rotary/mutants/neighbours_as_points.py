"""Neighbours are turned together, and not the two halves."""

from pathlib import Path

from lessons.mutation import changed

globals().update(changed(Path(__file__).parents[1] / "solution.py", ("pairs=False", "pairs=True")))
