"""The power is -2n/K, as for K/2 frequencies along a line."""

from pathlib import Path

from lessons.mutation import changed

globals().update(changed(Path(__file__).parents[1] / "solution.py", ("(-4 * ", "(-2 * ")))
