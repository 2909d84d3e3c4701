"""Parameters, and gradients: one flat buffer, many names.

Every parameter is a view into a single 1-D array. So an optimiser's update is one expression over the
buffer, the gradient norm one dot product, and a copy to another device one call, whatever the model.

Weight decay acts on matrices only. The buffer holds these first, so that `flat[:decayed]` is what decays.
"""

from __future__ import annotations

from collections.abc import Iterator
from math import prod

import numpy as np

from tinyvit.backend import Array, array_module

Shapes = dict[str, tuple[int, ...]]


class Params:
    """A table name -> view over one flat array.

    `flat` is the buffer, 1-D; `shapes` the table; `decayed` how many numbers at its start belong to
    matrices. Read with params[name]; write with params[name] = values (shape checked) or, for gradients,
    params.add(name, values).
    """

    def __init__(self, flat: Array, shapes: Shapes):
        self.flat, self.shapes = flat, shapes
        matrices = [name for name in shapes if _is_matrix(name, shapes[name])]
        others = [name for name in shapes if not _is_matrix(name, shapes[name])]
        needed = sum(map(prod, shapes.values()))
        if flat.size != needed:
            raise ValueError(f"the buffer has {flat.size:,} numbers, the parameters have {needed:,}")
        self._views: dict[str, Array] = {}
        start = 0
        for name in matrices + others:
            size = prod(shapes[name])
            self._views[name] = flat[start : start + size].reshape(shapes[name])
            start += size
        self.decayed = sum(prod(shapes[name]) for name in matrices)

    @classmethod
    def zeros(cls, shapes: Shapes, dtype: str = "float32", xp=np) -> Params:
        """All parameters zero, in the array module xp."""
        return cls(xp.zeros(sum(map(prod, shapes.values())), dtype=dtype), shapes)

    def zeros_like(self) -> Params:
        """A second buffer, all zeros, with the same table: for gradients or an optimiser's state."""
        return Params(array_module(self.flat).zeros_like(self.flat), self.shapes)

    def astype(self, dtype: str) -> Params:
        """A copy in another dtype."""
        return Params(self.flat.astype(dtype), self.shapes)

    def to(self, xp) -> Params:
        """A copy in the array module xp, numpy or cupy."""
        flat = self.flat
        return Params(
            flat.get() if xp is np and array_module(flat) is not np else xp.array(flat), self.shapes
        )

    def carried_over(self, shapes: Shapes, without: str) -> Params:
        """Parameters of another table with the values of these; zeros where a name begins with `without`."""
        result = Params.zeros(shapes, self.flat.dtype, array_module(self.flat))
        for name in shapes:
            if not name.startswith(without):
                result[name] = self[name]
        return result

    def __getitem__(self, name: str) -> Array:
        return self._views[name]

    def __setitem__(self, name: str, values: Array) -> None:
        if values.shape != self.shapes[name]:
            raise ValueError(f"{name} has shape {self.shapes[name]}, got {values.shape}")
        self._views[name][...] = values

    def add(self, name: str, values: Array) -> None:
        """Add values to a parameter, in place: how gradients of several micro-batches are summed."""
        self._views[name] += values

    def __iter__(self) -> Iterator[str]:
        return iter(self.shapes)

    def __len__(self) -> int:
        return len(self.shapes)

    @property
    def count(self) -> int:
        """How many numbers there are."""
        return self.flat.size


def _is_matrix(name: str, shape: tuple[int, ...]) -> bool:
    """Matrices of linear layers; the class token, position embedding, norms and biases are not among them."""
    return name.endswith(".weight") and len(shape) == 2
