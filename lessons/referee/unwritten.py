"""Memory that was never written, made visible: while a check runs, np.empty gives NaN.

Otherwise an answer that forgets a part of its result is right by luck, or wrong by a factor of 10^185. The
NaN has a payload of its own, which arithmetic hands on, so that it is told from the NaN of 0 / 0.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from unittest.mock import patch

import numpy as np

MARK = np.uint32(0x7FC0F00D)  # a float32 NaN; as float64 it has the same first bits
NAN = np.array([MARK]).view(np.float32)


@contextmanager
def shown() -> Iterator[None]:
    """While it lasts, np.empty and np.empty_like fill what they make."""
    with patch("numpy.empty", _filling(np.empty)), patch("numpy.empty_like", _filling(np.empty_like)):
        yield


def is_unwritten(array) -> np.ndarray:
    """The mask of those elements of an array of floats that still hold what np.empty left there."""
    with np.errstate(all="ignore"):
        return (np.asarray(array).astype(np.float32).view(np.uint32) & np.uint32(0x7FFFFFFF)) == MARK


def _filling(make):
    def filled(*args, **kwargs):
        array = make(*args, **kwargs)
        if array.dtype.kind == "f":
            array[...] = NAN.astype(array.dtype)[0]
        elif array.dtype.kind in "iu":
            array[...] = np.iinfo(array.dtype).max
        return array

    return filled
