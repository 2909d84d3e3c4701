"""Properties that the right one has and the wrong one lacks: sums, symmetry, change along an axis."""

from __future__ import annotations

import numpy as np

from lessons.referee.questions.case import Case, axis_name, telling


def sums(case: Case) -> str:
    """The right one adds up to 0 or 1 along an axis."""
    expected, got = case.expected, case.got
    if not telling(expected):
        return ""
    for axis in reversed(range(expected.ndim)):
        length = expected.shape[axis]
        if length < 2 or expected.size // length < 2:
            continue
        for total in (0.0, 1.0):
            kept = _adds_up(expected, axis, total)
            if not kept or _adds_up(got, axis, total):
                continue
            along = axis_name(axis, expected.ndim)
            worst = got.sum(axis=axis).flat[np.abs(got.sum(axis=axis) - total).argmax()]
            for other in range(expected.ndim):
                if other != axis and total and _adds_up(got, other, total):
                    there = axis_name(other, expected.ndim)
                    return f"adds up to {total:g} along {there}, and should along {along}"
            return f"should add up to {total:g} along {along}, and adds up to {worst:.4g} somewhere"
    return ""


def without_change(case: Case) -> str:
    """The same all along an axis along which the right one changes."""
    if case.got.size > 3 and telling(case.expected) and np.ptp(case.got) == 0:
        return "is the same number everywhere, and should not be"
    for axis in range(case.expected.ndim):
        if case.expected.shape[axis] < 2 or not telling(case.expected) or not telling(case.got):
            continue
        if _still(case.got, axis) and not _still(case.expected, axis):
            return f"is the same all along {axis_name(axis, case.expected.ndim)}, and should not be"
        if _still(case.expected, axis) and not _still(case.got, axis):
            return f"changes along {axis_name(axis, case.expected.ndim)}, and should not"
    return ""


def _adds_up(array: np.ndarray, axis: int, total: float) -> bool:
    size = max(float(np.abs(array).max(initial=0)), 1e-12)
    return bool(np.abs(array.sum(axis=axis) - total).max(initial=0) <= 1e-6 * size)


def _still(array: np.ndarray, axis: int) -> bool:
    size = max(float(np.abs(array).max(initial=0)), 1e-12)
    return bool(np.ptp(array, axis=axis).max(initial=0) <= 1e-6 * size)
