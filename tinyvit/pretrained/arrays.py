"""The arrays of a checkpoint while it is read: what is used is crossed off, the rest is reported."""

from __future__ import annotations

import re
from math import isqrt

import numpy as np

from tinyvit.errors import UserError
from tinyvit.model import ViTConfig


class NamedArrays:
    """Arrays by name; take() hands one out and crosses it off, so that nothing is passed over silently."""

    def __init__(self, arrays: dict[str, np.ndarray], source: str):
        self._left, self.source = dict(arrays), source

    def __contains__(self, name: str) -> bool:
        return name in self._left

    def shape(self, name: str, axes: int) -> tuple[int, ...]:
        """Shape of an array that is still there. Raises UserError if it is not, or has not that many axes."""
        shape = self._get(name).shape
        if len(shape) != axes:
            raise UserError(f"{self.source}: {name} has shape {shape}, expected {axes} axes.")
        return shape

    def take(self, name: str, shape: tuple[int, ...]) -> np.ndarray:
        """The array, crossed off. Raises UserError if it is missing, or not numbers of that shape."""
        array = self._get(name)
        if array.shape != shape:
            raise UserError(f"{self.source}: {name} has shape {array.shape}, expected {shape}.")
        if array.dtype.kind != "f":
            raise UserError(f"{self.source}: {name} has dtype {array.dtype}, expected floating point.")
        del self._left[name]
        return array

    def count(self, pattern: str) -> int:
        """How many different numbers the first group of a pattern matches among the names: layers, say."""
        return len({match[1] for name in self._left if (match := re.match(pattern, name))})

    def supply(self, name: str, array: np.ndarray) -> None:
        """Put in an array that the file leaves out because it is known to be that."""
        self._left[name] = array

    def drop(self, pattern: str) -> None:
        """Cross off all arrays whose names match: they are known, and take no part in classifying."""
        self._left = {name: array for name, array in self._left.items() if not re.search(pattern, name)}

    def refuse(self, foreign: dict[str, str]) -> None:
        """Raises UserError for an array whose name matches one of these patterns, with the reason given."""
        for pattern, why in foreign.items():
            for name, array in self._left.items():
                if re.search(pattern, name):
                    raise UserError(
                        f"{self.source} is not a plain ViT: {_printable(name)} {array.shape} {why}. "
                        "Choose another checkpoint."
                    )

    def finish(self) -> None:
        """Raises UserError if arrays are left that nobody took, naming them with their shapes."""
        if self._left:
            names = [f"{_printable(name)} {array.shape}" for name, array in sorted(self._left.items())]
            shown = ", ".join(names[:6]) + (f" and {len(names) - 6} more" if len(names) > 6 else "")
            raise UserError(
                f"{self.source} is not a plain ViT: it also holds {shown}. tinyvit has no use for "
                "these and cannot do without them: choose another checkpoint."
            )

    def _get(self, name: str) -> np.ndarray:
        if name not in self._left:
            names = [_printable(other) for other in sorted(self._left)]
            held = ", ".join(names[:4]) + (", ..." if len(names) > 4 else "") if names else "nothing else"
            raise UserError(f"{self.source}: the array {name} is missing; it holds {held}.")
        return self._left[name]


def renamed(pairs: list[tuple[str, np.ndarray]], source: str) -> dict[str, np.ndarray]:
    """Arrays under their new names. Raises UserError if two of them have become the same."""
    arrays = dict(pairs)
    if len(arrays) < len(pairs):
        names = [name for name, _ in pairs]
        twice = next(name for name in names if names.count(name) > 1)
        raise UserError(
            f"{source} holds {_printable(twice)} twice, in different spellings: remove the one not meant."
        )
    return arrays


def square_image_size(
    table: NamedArrays, name: str, class_token: str, patch_size: int, may_lack_row: bool
) -> tuple[int, int]:
    """Height and width in pixels of square images, from how many rows the position embedding `name` has.

    may_lack_row: the class token need not have a row. Raises UserError if their number is not one of a
    square grid of patches.
    """
    rows, has_token = table.shape(name, 3)[1], class_token in table
    for places in (rows - 1, *[rows] * may_lack_row) if has_token else (rows,):
        if _is_square(places):
            return isqrt(places) * patch_size, isqrt(places) * patch_size
    missing = (
        f" Or the array {class_token} is missing: the class token has a row." if _is_square(rows - 1) else ""
    )
    raise UserError(
        f"{table.source}: {name} has {rows} rows, which is not the number of patches of a square image"
        f"{' (and a class token)' if has_token else ''}: give load_weights its image_size, height and width."
        + missing
    )


def _is_square(number: int) -> bool:
    return number > 0 and isqrt(number) ** 2 == number


def take_positions(table: NamedArrays, name: str, config: ViTConfig) -> np.ndarray:
    """The position embedding (N, D); big_vision and DeiT-III have no row for the class token: it gets zeros.

    Raises UserError if it is missing or misshapen.
    """
    rows = table.shape(name, 3)[1]
    lacking = 1 if config.has_token and rows == config.tokens - 1 else 0
    found = table.take(name, (1, config.tokens - lacking, config.width))[0]
    return np.concatenate([np.zeros((lacking, config.width), found.dtype), found])


def _printable(name: str) -> str:
    return name if name.isprintable() else repr(name)
