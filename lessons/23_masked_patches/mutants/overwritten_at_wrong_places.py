"""Tokens are put back in the order of their places, and not where each was taken."""

from pathlib import Path

from lessons.mutation import changed

globals().update(changed(Path(__file__).parents[1] / "solution.py", ("seen] = y", "np.sort(seen)] = y")))
