"""A rectangle of pixels in each of several images: where it begins and ends, and what lies within it."""

from typing import NamedTuple

import numpy as np


class Rectangles(NamedTuple):
    """Rows top to bottom and columns left to right of B images, the last of each not included; (B,) each."""

    top: np.ndarray
    bottom: np.ndarray
    left: np.ndarray
    right: np.ndarray

    @property
    def area(self) -> np.ndarray:
        """How many pixels each has, (B,)."""
        return (self.bottom - self.top) * (self.right - self.left)

    def rows(self, height: int) -> np.ndarray:
        """Whether each row of the images is among those of the rectangle: (B, height)."""
        row = np.arange(height)
        return (self.top[:, None] <= row) & (row < self.bottom[:, None])

    def columns(self, width: int) -> np.ndarray:
        """Whether each column of the images is among those of the rectangle: (B, width)."""
        column = np.arange(width)
        return (self.left[:, None] <= column) & (column < self.right[:, None])
