"""A result of the wrong shape: what would make it right."""

from __future__ import annotations

from itertools import combinations, permutations

import numpy as np

from lessons.referee.questions.case import axis_name


def wrong_shape(got: np.ndarray, expected: np.ndarray) -> str:
    """The change that turns `got` into `expected`, as the end of a sentence; "" if unknown."""
    if got.dtype.kind not in "fiu" or expected.dtype.kind not in "fiu" or not np.isfinite(got).all():
        return ""
    if got.size == expected.size and got.size > 1:
        if np.squeeze(got).shape == np.squeeze(expected).shape and same(
            got.reshape(expected.shape), expected
        ):
            return "the numbers are right, but there is one axis of length 1 too many or too few"
        for order in permutations(range(got.ndim)) if 2 <= got.ndim <= 5 else ():
            if same(got.transpose(order), expected):
                return "it is the transpose" if got.ndim == 2 else f"transposed to {order} it would be right"
        if same(got.reshape(expected.shape), expected):
            return "the numbers are right, only the shape is not"
    by_hand = expected.size == 1 and abs(expected.item() * 100 - round(expected.item() * 100)) < 1e-9
    for axes in () if by_hand else _subsets(got.ndim):
        for reduce, word in ((np.sum, "sum"), (np.mean, "mean")):
            if same(reduce(got, axis=axes), expected) or same(
                reduce(got, axis=axes, keepdims=True), expected
            ):
                return f"its {word} over {_named(axes, got.ndim)} would be right"
    for axes in _subsets(expected.ndim):
        for reduce, word in ((np.sum, "summed"), (np.mean, "averaged")):
            reduced = reduce(expected, axis=axes)
            if reduced.size > 1 and same(np.squeeze(got), np.squeeze(reduced)):
                return f"it is the right one {word} over {_named(axes, expected.ndim)}"
    return ""


def _subsets(ndim: int):
    for count in range(1, ndim + 1):
        yield from combinations(range(ndim), count)


def _named(axes: tuple[int, ...], ndim: int) -> str:
    if len(axes) == ndim and ndim > 1:
        return "all its axes"
    return " and ".join(axis_name(axis, ndim) for axis in axes)


def same(a: np.ndarray, b: np.ndarray) -> bool:
    """True if two arrays are of one shape and the same to six digits, and not all zero."""
    if np.shape(a) != np.shape(b) or not np.any(b):
        return False
    return bool(np.linalg.norm(np.subtract(a, b)) <= 1e-6 * np.linalg.norm(b))
