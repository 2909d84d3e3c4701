"""Parameters and gradients: named views into one flat buffer.

Every parameter is a view into a single 1-D array. An optimiser's update is therefore one expression over the
buffer, the gradient norm is one dot product, and a copy to another device is one call, whatever the model.

Weight decay acts on only some of the parameters. They come first in the buffer, as `flat[:decayed]`.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping
from math import prod
from types import ModuleType
from typing import Any

import numpy as np
from numpy.typing import DTypeLike

from tinyvit.backend import Array, array_module
from tinyvit.model.layout import ParamSpec, Shape, depth


def places(rows: tuple[ParamSpec, ...]) -> dict[str, int]:
    """The place of each parameter of a table in the flat buffer; those subject to weight decay come first."""
    starts, start = {}, 0
    for row in sorted(rows, key=lambda row: not row.decays):
        starts[row.name] = start
        start += prod(row.shape)
    return starts


class Params(Mapping[str, Array]):
    """A mapping from names to views into one flat array.

    `flat` is the 1-D buffer, `rows` the table (see model.layout), and `decayed` how many numbers at the start
    of the buffer are subject to weight decay. Read one parameter with params[name], or a whole part with
    params.group("blocks.0.attn"). Write with params[name] = values (the shape is checked) or, for gradients,
    params.add(name, values).
    """

    def __init__(self, flat: Array, rows: tuple[ParamSpec, ...]):
        self.flat, self.rows = flat, tuple(rows)
        needed = sum(prod(row.shape) for row in self.rows)
        if flat.size != needed:
            raise ValueError(f"the buffer has {flat.size:,} numbers, the parameters have {needed:,}")
        self.decayed = sum(prod(row.shape) for row in self.rows if row.decays)
        starts = places(self.rows)
        self._views: dict[str, Array] = {
            row.name: flat[starts[row.name] : starts[row.name] + prod(row.shape)].reshape(row.shape)
            for row in self.rows
        }
        self._groups: dict[str, list[Array]] = {}
        for name, view in self._views.items():
            words = name.split(".")
            for i in range(1, len(words) + 1):
                self._groups.setdefault(".".join(words[:i]), []).append(view)

    @classmethod
    def zeros(cls, rows: tuple[ParamSpec, ...], dtype: DTypeLike = "float32", xp: ModuleType = np) -> Params:
        """The parameters of a table, all zeros, in the array module xp. MemoryError if they do not fit."""
        size = sum(prod(row.shape) for row in rows)
        if size > sys.maxsize // np.dtype(dtype).itemsize:  # for which NumPy raises a ValueError
            raise MemoryError(f"{size:,} parameters are more than an address can count")
        return cls(xp.zeros(size, dtype=dtype), rows)

    def zeros_like(self) -> Params:
        """A new buffer of zeros with the same table, for gradients or an optimiser's state."""
        return Params.zeros(self.rows, self.flat.dtype, array_module(self.flat))

    def astype(self, dtype: DTypeLike) -> Params:
        """A copy in another dtype."""
        return Params(self.flat.astype(dtype), self.rows)

    def to(self, xp: ModuleType) -> Params:
        """A copy in the array module xp, numpy or cupy."""
        flat = self.flat
        on_host = xp is np and array_module(flat) is not np
        return Params(flat.get() if on_host else xp.array(flat), self.rows)

    def copy_to(self, specs: tuple[ParamSpec, ...], exclude: str | tuple[str, ...]) -> Params:
        """The values of these parameters in another table; zeros for names that begin with `exclude`."""
        result = Params.zeros(specs, self.flat.dtype, array_module(self.flat))
        for name in result:
            if not name.startswith(exclude):
                result[name] = self[name]
        return result

    def clear(self, frozen: int | None = None) -> None:
        """Set all values to 0, except those of the stem and of the first `frozen` blocks, if that is given.

        Untouched pages of memory are never allocated.
        """
        if frozen is None:
            self.flat.fill(0)
            return
        for name, view in self._views.items():
            if depth(name) > frozen:
                view.fill(0)

    def group(self, name: str) -> tuple[Array, ...]:
        """The parameters of a part, in table order: group("norm") is (norm.weight, norm.bias)."""
        return tuple(self._groups[name])

    def has(self, name: str) -> bool:
        """True if there are parameters of a part of that name."""
        return name in self._groups

    def add(self, name: str, *values: Array) -> None:
        """Add one array to each parameter of a part, in table order; this is how gradients are summed."""
        for view, value in zip(self._groups[name], values, strict=True):
            view += value

    @property
    def shapes(self) -> dict[str, Shape]:
        """Name -> shape, in table order."""
        return {row.name: row.shape for row in self.rows}

    @property
    def count(self) -> int:
        """Number of values."""
        return self.flat.size

    def __getitem__(self, name: str) -> Array:
        return self._views[name]

    def __setitem__(self, name: str, values: Array) -> None:
        if values.shape != self._views[name].shape:
            raise ValueError(f"{name} has shape {self._views[name].shape}, got {values.shape}")
        self._views[name][...] = values

    def __iter__(self) -> Iterator[str]:
        return iter(self._views)

    def __len__(self) -> int:
        return len(self._views)

    # A Mapping compares values, but comparing arrays gives no single truth value: identity is used instead.
    __eq__ = object.__eq__
    __hash__ = object.__hash__

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle and copy the buffer and the table, so that the copy's views refer to the copy's buffer."""
        return Params, (self.flat, self.rows)

    def __repr__(self) -> str:
        names = [f"{row.name} {row.shape}" for row in self.rows]
        shown = names if len(names) <= 6 else [*names[:4], "...", *names[-2:]]
        where = "" if array_module(self.flat) is np else " on the GPU"
        return f"Params({self.count:,} numbers, {self.flat.dtype}{where}: {', '.join(shown)})"
