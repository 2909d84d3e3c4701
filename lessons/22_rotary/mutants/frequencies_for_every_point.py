"""There are K/2 frequencies for the row and K/2 for the column, twice as many as points."""

from pathlib import Path

from lessons.mutation import changed

globals().update(
    changed(Path(__file__).parents[1] / "solution.py", ("np.arange(K // 4)", "np.arange(K // 2)"))
)
