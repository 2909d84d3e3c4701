"""The sine and the cosine of each frequency stand side by side, as in the first Transformer."""

from pathlib import Path

from lessons.mutation import changed
from tinyvit.ops import positions_sincos as right

globals().update(changed(Path(__file__).parents[1] / "solution.py"))


def positions_sincos(grid, width):
    table = right(grid, width)
    return table.reshape(len(table), 4, -1).swapaxes(1, 2).reshape(table.shape)
