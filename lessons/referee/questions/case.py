"""A wrong array beside the right one, and what is known about how it was made."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

import numpy as np

from lessons.referee.rerun import near


@dataclass(frozen=True)
class Case:
    """A wrong array and the right one, of one shape; and the arrays and numbers that went in, by name."""

    got: np.ndarray
    expected: np.ndarray
    name: str = ""
    inputs: dict[str, np.ndarray] = field(default_factory=dict)
    numbers: dict[str, float] = field(default_factory=dict)
    letters: dict[str, int] = field(default_factory=dict)
    others: dict[str, np.ndarray] = field(default_factory=dict)  # what the other results should be, by name

    @property
    def tolerance(self) -> float:
        """The distance, relative to its size, up to which an array counts as the same as another."""
        single = np.float32 in (self.got.dtype, self.expected.dtype)
        return 1e-5 if single else 1e-6

    @property
    def difference(self) -> np.ndarray:
        return self.got.astype(float) - self.expected

    def same(self, a: np.ndarray, b: np.ndarray) -> bool:
        """True if two arrays are of one shape and the same but for rounding."""
        if np.shape(a) != np.shape(b):
            return False
        return near(np.asarray(a, float), np.asarray(b, float), self.tolerance)

    def wrong(self) -> np.ndarray:
        """The positions at which the values are wrong."""
        size = np.abs(self.expected).max(initial=0)
        return np.abs(self.difference) > self.tolerance * max(size, 1e-12)

    def part(self, index) -> Case:
        """The same question about a part of both arrays."""
        return replace(self, got=self.got[index], expected=self.expected[index], inputs={}, others={})


def telling(array: np.ndarray) -> bool:
    """True if an array has enough values that agreeing with it is no accident: three sizes other than 0."""
    sizes = np.unique(np.abs(np.asarray(array, float)).round(12))
    return sizes[sizes > 0].size >= 3


def axis_name(axis: int, ndim: int) -> str:
    """An axis as one would say it."""
    if axis == ndim - 1:
        return "the last axis"
    return "the first axis" if axis == 0 else f"axis {axis}"
