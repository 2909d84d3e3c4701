"""The sines of the row come before those of the column."""

from pathlib import Path

import numpy as np

from lessons.mutation import changed
from tinyvit.ops import positions_sincos as right

globals().update(changed(Path(__file__).parents[1] / "solution.py"))


def positions_sincos(grid, width):
    return np.roll(right(grid, width), width // 2, axis=1)
