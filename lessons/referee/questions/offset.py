"""Off by a constant: everywhere, or one for each row; or by a factor for each row."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from lessons.referee.questions.case import Case, axis_name, telling
from lessons.referee.questions.ratio import constant_factor


def constant_offset(case: Case) -> str:
    """The right one plus one number."""
    if not telling(case.expected) or case.expected.size < 4:
        return ""
    difference = case.difference
    shift = difference.mean()
    if not shift or not case.same(case.got - shift, case.expected):
        return ""
    zero = abs(case.expected.mean()) < 1e-6 * np.abs(case.expected).max()
    kept = ", and should add up to 0" if zero else ""
    return f"is {abs(shift):.4g} too {'large' if shift > 0 else 'small'} everywhere{kept}"


def offset_of_each_row(case: Case) -> str:
    """The right one plus one number for each row."""
    for axis in _axes(case):
        shift = case.difference.mean(axis=axis, keepdims=True)
        if telling(shift) and case.same(case.got - shift, case.expected):
            along = axis_name(axis, case.expected.ndim)
            mean = case.expected.mean(axis=axis)
            size = np.abs(case.expected).max()
            if np.abs(mean).max() <= 1e-6 * size:
                return f"should have mean 0 along {along}, and has not"
            return f"is right but for a number that is the same all along {along}"
    return ""


def factor_of_each_row(case: Case) -> str:
    """The right one times one number for each row."""
    for axis in _axes(case):
        square = (case.expected**2).sum(axis=axis, keepdims=True)
        if not np.all(square):
            continue
        factor = (case.got * case.expected).sum(axis=axis, keepdims=True) / square
        if case.same(factor * case.expected, case.got) and telling(factor):
            along = axis_name(axis, case.expected.ndim)
            low, high = float(factor.min()), float(factor.max())
            return f"is right but for a factor that is constant along {along}: from {low:.4g} to {high:.4g}"
    return ""


def once_an_input_is_off(case: Case) -> str:
    """The right one times a constant, or one for each row, apart from an input that was added in the end."""
    for name, array in case.inputs.items():
        if array.dtype.kind != "f" or array.ndim >= case.expected.ndim or not telling(array):
            continue
        try:
            rest = replace(case, got=case.got - array, expected=case.expected - array)
        except ValueError:
            continue  # it does not fit
        if rest.expected.shape != case.expected.shape or not np.any(rest.got):
            continue
        if answer := constant_factor(rest) or factor_of_each_row(rest):
            return f"{answer}, once {name} is taken off"
    return ""


def _axes(case: Case):
    """The axes along which something constant would be no accident, the last first."""
    shape = case.expected.shape
    for axis in reversed(range(len(shape))):
        if shape[axis] >= 3 and case.expected.size > shape[axis] and telling(case.expected):
            yield axis
