"""The patches are collected in np.zeros, which is float64 whatever the images are."""

from pathlib import Path

import numpy as np

from lessons.mutation import changed
from tinyvit.ops import patchify as right

globals().update(changed(Path(__file__).parents[1] / "solution.py"))


def patchify(images, patch):
    y, cache = right(images, patch)
    collected = np.zeros(y.shape)
    collected[...] = y
    return collected, cache
