"""The arrays of a checkpoint that is being understood: what is used is crossed out, the rest reported."""

from __future__ import annotations

import re

import numpy as np

from tinyvit.errors import UserError


class NamedArrays:
    """Arrays by name; take() hands one out and crosses it out, so that nothing is passed over silently."""

    def __init__(self, arrays: dict[str, np.ndarray], source: str):
        self._left, self.source = dict(arrays), source

    def __contains__(self, name: str) -> bool:
        return name in self._left

    def shape(self, name: str) -> tuple[int, ...]:
        """Shape of an array that is still there. Raises UserError if it is not."""
        return self._get(name).shape

    def take(self, name: str, shape: tuple[int, ...] | None = None) -> np.ndarray:
        """The array, as float32, crossed out; of `shape` if given. Raises UserError if missing or not so."""
        array = self._get(name)
        if shape is not None and array.shape != shape:
            raise UserError(f"{self.source}: {name} has shape {array.shape}, expected {shape}.")
        del self._left[name]
        return np.asarray(array, dtype=np.float32)

    def count(self, pattern: str) -> int:
        """How many different numbers the first group of a pattern matches among the names: layers, say."""
        return len({match[1] for name in self._left if (match := re.match(pattern, name))})

    def drop(self, pattern: str) -> list[str]:
        """Cross out all arrays whose names match, and name them."""
        dropped = [name for name in self._left if re.match(pattern, name)]
        for name in dropped:
            del self._left[name]
        return dropped

    def finish(self) -> None:
        """Raises UserError if arrays are left that nobody took, naming them with their shapes."""
        if self._left:
            names = [f"{name} {array.shape}" for name, array in sorted(self._left.items())]
            shown = ", ".join(names[:6]) + (f" and {len(names) - 6} more" if len(names) > 6 else "")
            raise UserError(
                f"{self.source} is not a plain ViT: it also holds {shown}. tinyvit has no place for these; "
                "choose a "
                "checkpoint without them."
            )

    def _get(self, name: str) -> np.ndarray:
        if name not in self._left:
            raise UserError(f"{self.source}: the array {name} is missing; it holds {self._sample()}.")
        return self._left[name]

    def _sample(self) -> str:
        names = sorted(self._left)
        return ", ".join(names[:4]) + (", ..." if len(names) > 4 else "") if names else "no arrays"
