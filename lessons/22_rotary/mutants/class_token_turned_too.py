"""The tokens before the patches turn as the first patch does."""

from pathlib import Path

import numpy as np

from lessons.mutation import changed
from tinyvit.ops.rotary import Turn, rotary

globals().update(changed(Path(__file__).parents[1] / "solution.py"))


def turn_patches(x, angles):
    others = x.shape[2] - len(angles)
    every = np.concatenate([np.repeat(angles[:1], others, axis=0), angles])
    return rotary(x, Turn(np.cos(every), np.sin(every), pairs=False))
