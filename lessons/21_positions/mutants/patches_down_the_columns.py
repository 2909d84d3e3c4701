"""The patches are numbered down the columns."""

from pathlib import Path

from lessons.mutation import changed
from tinyvit.ops import positions_sincos as right

globals().update(changed(Path(__file__).parents[1] / "solution.py"))


def positions_sincos(grid, width):
    return right(grid, width).reshape(*grid, width).swapaxes(0, 1).reshape(-1, width)
