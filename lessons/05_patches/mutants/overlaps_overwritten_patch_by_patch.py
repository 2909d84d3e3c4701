"""Where patches overlap, the gradient of the last one is written over the others instead of added to them."""

from pathlib import Path

import numpy as np

from lessons.mutation import changed

globals().update(changed(Path(__file__).parents[1] / "solution.py"))


def overlapping_patches_backward(dy, shape, patch, stride):
    B, _, W, C = shape
    columns = (W - patch) // stride + 1
    dx = np.zeros(shape, dy.dtype)
    for number in range(dy.shape[1]):
        top, left = number // columns * stride, number % columns * stride
        dx[:, top : top + patch, left : left + patch] = dy[:, number].reshape(B, patch, patch, C)
    return dx
