"""The right numbers at the wrong positions."""

from __future__ import annotations

from itertools import permutations

import numpy as np

from lessons.referee.questions.case import Case, axis_name, telling


def transposed(case: Case) -> str:
    """The right one with its axes in another order."""
    ndim = case.expected.ndim
    if not 2 <= ndim <= 6 or not telling(case.expected):
        return ""
    for order in permutations(range(ndim)):
        turned = case.expected.transpose(order)
        if order != tuple(range(ndim)) and case.same(case.got, turned):
            if order[:-2] == tuple(range(ndim - 2)):
                last = "" if ndim == 2 else " in its last two axes"
                return f"is the transpose of what it should be{last}"
            return f"is what it should be with its axes in another order, {order}"
    return ""


def shifted(case: Case) -> str:
    """The right one turned round, or rolled on, along one axis."""
    if not telling(case.expected):
        return ""
    ndim = case.expected.ndim
    for axis, length in enumerate(case.expected.shape):
        along = f" along {axis_name(axis, ndim)}" if ndim > 1 else ""
        if length > 1 and case.same(case.got, np.flip(case.expected, axis)):
            return f"is the right one in reversed order{along}"
        for steps in _candidates(case, axis):
            if case.same(case.got, np.roll(case.expected, steps, axis)):
                by = steps if steps <= length // 2 else steps - length
                return (
                    f"is the right one shifted by {by:+d}{along}, what falls off coming in at the other end"
                )
    return ""


def _candidates(case: Case, axis: int) -> list[int]:
    """The steps by which the right one may have been rolled, judged by the first slice along the axis alone.

    On a long axis, trying every roll of the whole array would take seconds.
    """
    got, expected = np.moveaxis(case.got, axis, 0), np.moveaxis(case.expected, axis, 0)
    rest = tuple(range(1, expected.ndim))
    far = np.abs(expected - got[0]).max(axis=rest, initial=0)  # from each slice of the right one
    near = np.flatnonzero(far <= 1e-3 * np.abs(expected).max(initial=0))
    return sorted((-int(i)) % len(expected) for i in near if i)


def slices_exchanged(case: Case) -> str:
    """Every slice along one axis is a right one, but another's."""
    if not telling(case.expected) or case.expected.ndim == 0:
        return ""
    for axis, length in enumerate(case.expected.shape):
        if not 1 < length <= 64:
            continue
        got, expected = np.moveaxis(case.got, axis, 0), np.moveaxis(case.expected, axis, 0)
        if len(np.unique(expected.reshape(length, -1).round(9), axis=0)) < length or expected[0].size < 2:
            continue
        found = [next((j for j in range(length) if case.same(each, expected[j])), None) for each in got]
        if None in found or found == list(range(length)):
            continue
        where = axis_name(axis, case.expected.ndim)
        if len(set(found)) == 1:
            return f"has, all along {where}, what is right for index {found[0]} alone"
        if len(set(found)) == length and length <= 12:
            return f"has the right parts along {where} in the wrong order: {', '.join(map(str, found))}"
    return ""


def rearranged(case: Case) -> str:
    """The same numbers, but elsewhere."""
    if np.unique(case.expected).size < (6 if case.expected.ndim > 1 else 4):
        return ""
    if not case.same(np.sort(case.got, axis=None), np.sort(case.expected, axis=None)):
        return ""
    if case.expected.ndim == 1:
        return "has the right numbers in the wrong order"
    return "holds the right numbers, but not at the right positions: look at the order of the axes"
