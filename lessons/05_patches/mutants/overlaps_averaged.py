"""Where patches overlap, their gradients are averaged instead of added."""

from pathlib import Path

import numpy as np

from lessons.mutation import changed

globals().update(changed(Path(__file__).parents[1] / "solution.py"))
added = globals()["overlapping_patches_backward"]


def overlapping_patches_backward(dy, shape, patch, stride):
    count = added(np.ones_like(dy), shape, patch, stride)
    return added(dy, shape, patch, stride) / np.maximum(count, 1)
