"""The picture that goes through the whole course: four stars, number 95 of the built-in shapes."""

from __future__ import annotations

from functools import cache

import numpy as np

from tinyvit.data.shapes import make_shapes


@cache
def _picture() -> np.ndarray:
    return make_shapes(train=96, test=1).train.images[95]


def star() -> np.ndarray:
    """The picture of the stars, uint8 (32, 32, 3), a copy that may be changed."""
    return _picture().copy()
