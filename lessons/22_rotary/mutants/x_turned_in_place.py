"""x itself is turned."""

from pathlib import Path

import numpy as np

from lessons.mutation import changed
from tinyvit.ops.rotary import Turn, rotary

globals().update(changed(Path(__file__).parents[1] / "solution.py"))


def turn_patches(x, angles):
    y, cache = rotary(x, Turn(np.cos(angles), np.sin(angles), pairs=False))
    x[...] = y
    return x, cache
