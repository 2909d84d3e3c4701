"""The picture that goes through the whole course: four stars, one of the built-in shapes."""

from __future__ import annotations

from functools import cache

import numpy as np

from tinyvit.data.shapes import make_shapes


@cache
def _picture() -> np.ndarray:
    return make_shapes(train=400, test=20).train.images[95]


def star() -> np.ndarray:
    """The picture of the stars, uint8 (32, 32, 3), a copy that may be changed."""
    return _picture().copy()
