"""The first number is written over before the second is worked out."""

from pathlib import Path

import numpy as np

from lessons.mutation import changed
from tinyvit.ops.rotary import Turn

globals().update(changed(Path(__file__).parents[1] / "solution.py"))


def turn_patches(x, angles):
    cos, sin = np.cos(angles), np.sin(angles)
    y, T, half = x.copy(), len(angles), x.shape[-1] // 2
    y1, y2 = y[:, :, -T:, :half], y[:, :, -T:, half:]  # views
    y1[...] = y1 * cos - y2 * sin
    y2[...] = y2 * cos + y1 * sin
    return y, (y, Turn(cos, sin, False))
