"""The tokens that do not turn get no gradient."""

from pathlib import Path

import numpy as np

from lessons.mutation import changed
from tinyvit.ops.rotary import rotary_backward

globals().update(changed(Path(__file__).parents[1] / "solution.py"))


def turn_patches_backward(dy, cache):
    dx, T = np.zeros_like(dy), cache[1].tokens
    dx[:, :, -T:] = rotary_backward(dy, cache)[0][:, :, -T:]
    return dx
