"""What a step of the reference engine would launch on a GPU, counted without one: every array operation.

The reference engine is run on arrays that have shapes and types but no values. Each operation notes its bytes
and its multiply-adds and returns another such array, so that a step takes no more time than its Python code.
CuPy launches one kernel for each elementwise operation, reduction, gather and copy, and one for each product;
where a product has more than two axes, it first copies factors whose rows are not adjacent.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from math import prod
from typing import Any, NamedTuple

import numpy as np

from tinyvit.backend import array_module
from tinyvit.benchmark.speed.price import Matrices, Work
from tinyvit.data import plan_batch
from tinyvit.engine.reference import ReferenceEngine, Training
from tinyvit.model import Params, ViTConfig, layout
from tinyvit.optim import AdamW

_SMALL = 2, 3  # batches that are counted; bytes and multiply-adds grow by as much with each further image


class Operation(NamedTuple):
    """One array operation: its name in NumPy, and its work."""

    name: str
    work: Work


def reference_operations(config: ViTConfig, batch: int, mode: str) -> list[Operation]:
    """All operations of a step of training, or of inference, on so many images, in their order."""
    few, more = (count_operations(config, images, mode) for images in _SMALL)
    return [Operation(a.name, _extended(a.work, b.work, batch)) for a, b in zip(few, more, strict=True)]


def count_operations(config: ViTConfig, batch: int, mode: str) -> list[Operation]:
    """The same, by running a step on that many images: their arrays take memory, though little time."""
    H, W = config.image_size
    params = Params(_array((sum(prod(row.shape) for row in layout(config)),), "float32"), layout(config))
    with _counting() as operations:
        if mode == "infer":
            images = _array((batch, H, W, config.channels), "float32")
            ReferenceEngine(config, params).logits(images)
            return list(operations)
        images = np.zeros((batch, H, W, config.channels), "uint8").view(Shape)
        labels = np.zeros(batch, "int64").view(Shape)
        training = Training(images, labels, AdamW(params, weight_decay=0.05), clip=1.0)
        engine = ReferenceEngine(config, params, training=training)
        assert engine.grads is not None  # allocated, and filled with zeros, before the first step
        operations.clear()
        engine.step(plan_batch(0, 1, np.arange(batch), padding=4, flip=True), 1e-3)
    return list(operations)


class Shape(np.ndarray):
    """An array of NumPy's of which only shape, dtype and strides have a meaning; its operations are noted."""

    def __array_ufunc__(self, ufunc: np.ufunc, method: str, *inputs: Any, out: tuple = (), **keywords: Any):
        if ufunc is np.matmul:
            result = _product(*inputs)
        elif method == "reduce":
            result = _reduced(ufunc, *inputs, **keywords)
            _note(ufunc.__name__, inputs[0], result)
        else:
            result = _elementwise(ufunc, *inputs)
            _note(ufunc.__name__, *inputs, result)
        return out[0] if out else result

    def __array_function__(self, function: Any, types: Any, args: tuple, keywords: dict):
        result = function(*_bare(args), **_bare(keywords))
        if not isinstance(result, np.ndarray):
            return result
        if result.base is None:  # not a view of an argument
            _note(function.__name__, *args, result)
        return result.view(Shape)

    def __getitem__(self, key: Any):
        result = np.ndarray.__getitem__(self, _bare(key))
        if isinstance(key, Shape):
            _note("getitem", key, result, gathered=result.nbytes)
        return result

    def __setitem__(self, key: Any, value: Any) -> None:
        _note("setitem", value, np.ndarray.__getitem__(self, _bare(key)))

    def fill(self, value: float) -> None:
        _note("fill", self)

    def mean(self, axis: Any = None, keepdims: bool = False):
        """One reduction, as CuPy's."""
        result = _reduced(np.add, self, axis=axis, keepdims=keepdims)
        _note("mean", self, result)
        return result

    def astype(self, dtype: Any):
        result = _array(self.shape, dtype)
        _note("astype", self, result)
        return result

    def take(self, indices: np.ndarray, axis: int = 0):
        result = _array((*indices.shape, *self.shape[1:]), self.dtype)
        _note("take", indices, result, gathered=result.nbytes)
        return result

    def reshape(self, *shape: Any):
        result = np.ndarray.reshape(self, *shape)
        if result.size and not np.may_share_memory(_bare(result), _bare(self)):
            _note("copy", self, result)
        return result

    def copy(self):
        result = _array(self.shape, self.dtype)
        _note("copy", self, result)
        return result


_noted: list[Operation] = []


class _Module:
    """NumPy, with arrays of shapes for all that it makes: what array_module gives while counting."""

    def zeros_like(self, x: Shape) -> Shape:
        """np.zeros, which, other than np.zeros_like, takes no memory before it is used."""
        return self.zeros(x.shape, x.dtype)

    def __getattr__(self, name: str) -> Any:
        found = getattr(np, name)
        return found if isinstance(found, type | np.ufunc) or not callable(found) else _shaped(found)


def _shaped(function: Any) -> Any:
    def call(*args: Any, **keywords: Any) -> Any:
        given = any(isinstance(arg, Shape) for arg in args)
        result = function(*args, **keywords)
        if not given and isinstance(result, np.ndarray):
            result = result.view(Shape)
            if function not in (np.empty, np.empty_like, np.asarray):
                _note(function.__name__, result)
        return result

    return call


@contextmanager
def _counting() -> Iterator[list[Operation]]:
    """Within this context, tinyvit takes shapes for arrays of a GPU; yields the list of operations."""
    module, replaced = _Module(), []
    for each in [m for name, m in sys.modules.items() if name.startswith("tinyvit.") and m]:
        if vars(each).get("array_module") is array_module and each is not sys.modules[__name__]:
            replaced.append(each)
            vars(each)["array_module"] = lambda *arrays: (
                module if any(isinstance(a, Shape) for a in arrays) else np
            )
    _noted.clear()
    try:
        yield _noted
    finally:
        for each in replaced:
            vars(each)["array_module"] = array_module


def _array(shape: tuple[int, ...], dtype: Any) -> Shape:
    return np.empty(shape, dtype).view(Shape)


def _note(name: str, *arrays: Any, gathered: int = 0, matrices: Matrices | None = None) -> None:
    """Note an operation that reads or writes these arrays, each once (as n in n * n), and gathers bytes."""
    different = {id(array): array for array in arrays if isinstance(array, np.ndarray)}
    moved = gathered + sum(array.nbytes for array in different.values())
    _noted.append(Operation(name, Work(moved, matrices.multiply_adds if matrices else 0, matrices)))


def _elementwise(ufunc: np.ufunc, *inputs: Any) -> Shape:
    arrays = [x for x in inputs if isinstance(x, np.ndarray)]
    one_each = [np.ones((1,) * x.ndim, x.dtype) if isinstance(x, np.ndarray) else x for x in inputs]
    return _array(np.broadcast_shapes(*(x.shape for x in arrays)), ufunc(*one_each).dtype)


def _reduced(ufunc: np.ufunc, x: Shape, axis: Any = None, keepdims: bool = False, **_: Any) -> Shape:
    axes = range(x.ndim) if axis is None else (axis,) if isinstance(axis, int) else axis
    axes = {i % x.ndim for i in axes}
    kept = [1 if i in axes else n for i, n in enumerate(x.shape) if keepdims or i not in axes]
    return _array(tuple(kept), x.dtype)


def _product(a: Shape, b: Shape) -> Shape:
    if a.ndim == b.ndim == 1:
        result = _array((), a.dtype)
        _note("dot", a, b, result)
        return result
    for factor in (a, b):
        if factor.ndim > 2 and not factor.flags.c_contiguous:
            _note("copy", factor, _array(factor.shape, factor.dtype))
    result = _array((*a.shape[:-1], b.shape[-1]), a.dtype)
    matrices = Matrices(a.shape[-2], b.shape[-1], a.shape[-1], prod(a.shape[:-2]))
    _note("matmul", a, b, result, matrices=matrices)
    return result


def _bare(value: Any) -> Any:
    """The same without shapes, for NumPy."""
    if isinstance(value, tuple | list):
        return type(value)(map(_bare, value))
    if isinstance(value, dict):
        return {name: _bare(each) for name, each in value.items()}
    return value.view(np.ndarray) if isinstance(value, Shape) else value


def _extended(few: Work, more: Work, batch: int) -> Work:
    """The work for `batch` images, on the line through that for two and that for three."""

    def at(a: int, b: int) -> int:
        return a + (b - a) * (batch - _SMALL[0])

    matrices = None
    if few.matrices:
        matrices = Matrices(*(at(a, b) for a, b in zip(_numbers(few), _numbers(more), strict=True)))
    return Work(at(few.bytes_moved, more.bytes_moved), matrices.multiply_adds if matrices else 0, matrices)


def _numbers(work: Work) -> tuple[int, ...]:
    m = work.matrices
    return m.rows, m.columns, m.inner, m.count
