"""Comparing an answer with what it should be, in an order that helps.

A message names the first thing that is wrong: the type, the shape, the dtype, numbers that are not finite,
and only then the values: what is the matter with them where that can be told, and where they differ most.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from lessons.referee import calls
from lessons.referee.diagnosis import diagnose
from lessons.referee.fault import Fault, distinguished, ordinal, said
from lessons.referee.rerun import compared
from lessons.referee.supposed import supposed
from lessons.referee.unwritten import is_unwritten


def assert_same(
    got,
    expected,
    name: str = "the result",
    tolerance: float = 1e-9,
    of: Callable | None = None,
    inputs: dict[str, np.ndarray] | None = None,
) -> None:
    """Assert that an array (or number) is what it should be, to tolerance relative to its largest value.

    With `of`, the right function, and its inputs by name, the fault may be found in what was taken for them.
    """
    expected = np.asarray(expected)
    assert_form(got, expected.shape, expected.dtype, name, expected)
    got = np.asarray(got)
    if expected.dtype.kind == "f" and compared({name: got}, expected):
        return
    if expected.dtype.kind == "f":
        distance, allowed = np.abs(got - expected), tolerance * max(1.0, np.abs(expected).max(initial=0))
    else:
        distance, allowed = (got != expected).astype(float), 0.0
    if not distance.size or distance.max() <= allowed:
        return
    where = np.unravel_index(distance.argmax(), distance.shape)
    shown = str(expected[where]), str(got[where])
    if expected.dtype.kind in "fiu":
        shown = distinguished(expected[where], got[where])
    detail = f"expected {shown[0]}, got {shown[1]}"
    reason = diagnose(got, expected, name, returned=returned_with(got))
    if not reason and of is not None:
        reason = supposed(got, lambda arrays: of(*arrays.values()), inputs)
    if reason:
        most = f"most of all{ordinal(where)}: " if where else ""
        raise Fault(f"{said(name, reason)}\n    {most}{detail}", name, got=got)
    raise Fault(f"{said(name, 'is wrong')}{ordinal(where)}: {detail}", name, got=got)


def returned_with(got) -> dict[int, np.ndarray]:
    """The arrays that were returned together with this result, by their positions, itself included."""
    for parts in calls.results():
        if any(part is got for part in parts):
            return {number: part for number, part in enumerate(parts) if isinstance(part, np.ndarray)}
    return {}


def assert_untouched(
    before: Sequence[np.ndarray], after: Sequence[np.ndarray], names: Sequence[str] = ()
) -> None:
    """Assert that a function left the arrays it was given as they were; names are those of its arguments."""
    names = names or [f"argument {number + 1}" for number in range(len(before))]
    for old, new, name in zip(before, after, names, strict=True):
        assert_unchanged(old, new, name)


def assert_unchanged(old: np.ndarray, new: np.ndarray, name: str, by: str = "") -> None:
    """Assert that one array, given by this name, is as it was before the call."""
    if np.shape(old) != np.shape(new):
        raise Fault(
            f"{name} was given another shape in place{by}: {np.shape(old)} became {np.shape(new)}; "
            "make a new array with reshape, and leave x.shape alone",
            name,
            "inplace",
        )
    if not np.array_equal(old, new, equal_nan=np.asarray(old).dtype.kind in "fc"):
        raise Fault(
            f"{name} was changed in place{by}: make a new array (y = x - ..., not x -= ...)", name, "inplace"
        )


def assert_form(got, shape: tuple[int, ...], dtype: np.dtype, name: str, expected=None) -> None:
    """Assert that a result is an array (or number) of this shape and dtype, without NaN or infinity.

    `expected`, where it is known, or a function that returns it, helps to say what is wrong with a shape.
    """
    if got is None:
        raise Fault(f"{name} is None: does the function return it?", name, "count")
    if isinstance(got, tuple | list):
        also = ": is a cache returned beside it, or unpacked nowhere?" if len(got) == 2 else ""
        raise Fault(f"{name} is a {type(got).__name__} of {len(got)}, expected an array{also}", name, "count")
    if not isinstance(got, np.ndarray | np.generic | float | int):
        raise Fault(f"{name} is a {type(got).__name__}, expected an array", name, "shape")
    if np.shape(got) != shape:
        right = expected() if callable(expected) else expected
        reason = "" if right is None else diagnose(np.asarray(got), right, name, returned=returned_with(got))
        message = f"{said(name, 'has shape')} {np.shape(got)}, expected {shape}"
        raise Fault(f"{message}: {reason}" if reason else message, name, "shape", got)
    if isinstance(got, np.ndarray | np.generic) and got.dtype != dtype:  # a Python number has none
        rule = ": dtype in, dtype out" if dtype == np.float32 else ""
        raise Fault(f"{said(name, 'has dtype')} {got.dtype}, expected {dtype}{rule}", name, "dtype", got)
    if not np.isfinite(got).all():
        if (unwritten := is_unwritten(got)).any():
            where = ordinal(np.argwhere(unwritten)[0])
            message = f"a part of {name} was never written: what stood in memory before is still there{where}"
            raise Fault(message, name, "finite", got)
        bad = np.argwhere(~np.isfinite(np.asarray(got)))[0]
        value = np.asarray(got)[tuple(bad)]
        message = f"{said(name, 'has a value that is not finite')}: {value}{ordinal(bad)}"
        raise Fault(message, name, "finite", got)
