"""A known array: an input, another result, or the right one with an input mixed in."""

from __future__ import annotations

import numpy as np

from lessons.referee.questions.case import Case, telling


def an_input(case: Case) -> str:
    """One of the arrays that went in, returned as it was."""
    for name, array in case.inputs.items():
        if telling(array) and case.same(case.got, array):
            return f"is the same as {spoken(name)}"
    return ""


def exchanged(case: Case) -> str:
    """The right array of another result."""
    for name, array in case.others.items():
        if telling(array) and case.same(case.got, array):
            return f"is what {name} should be: are the two exchanged?"
    return ""


def offset_by_input(case: Case) -> str:
    """The right one plus or minus an input, or a multiple of it."""
    difference = case.difference
    for name, array in case.inputs.items():
        share = _broadcast(array, difference.shape)
        if share is None or not telling(share):
            continue
        factor = float(np.vdot(share, difference) / np.vdot(share, share))
        if factor and case.same(case.got - factor * share, case.expected):
            times = "" if abs(abs(factor) - 1) < case.tolerance else f"{abs(factor):.4g} times "
            verb, question = ("minus", "is that missing?") if factor < 0 else ("plus", "is that too much?")
            if times:
                twice = abs(abs(factor) - 2) < case.tolerance
                question = "has it the wrong sign?" if twice else "is a term wrong?"
            return f"is the right one {verb} {times}{spoken(name)}: {question}"
    return ""


def factor_of_input(case: Case) -> str:
    """The right one with a factor too many or too few that went in: an array, its square, or its root."""
    if not telling(case.expected):
        return ""
    for name, array in case.inputs.items():
        share = _broadcast(array, case.expected.shape)
        if share is None or not telling(share) or not np.all(share):
            continue
        for power, text in ((1, "{}"), (2, "the square of {}"), (0.5, "the square root of {}")):
            if power == 0.5 and share.min() < 0:
                continue
            factor, what = share**power, text.format(spoken(name))
            if case.same(case.got * factor, case.expected):
                return f"is the right one divided by {what}: is a factor missing?"
            if case.same(case.got / factor, case.expected):
                return f"is the right one times {what}: is that a factor too many?"
    return ""


def multiple_in_each_row(case: Case) -> str:
    """Off, in every row, by some multiple of the same row of an input."""
    difference = case.difference
    if difference.ndim < 2 or difference.shape[-1] < 3:
        return ""
    for name, array in case.inputs.items():
        if array.shape != difference.shape or not telling(array):
            continue
        a = np.asarray(array, float)
        square = (a * a).sum(axis=-1, keepdims=True)
        if not np.all(square):
            continue
        multiple = (difference * a).sum(axis=-1, keepdims=True) / square
        if case.same(case.got - multiple * a, case.expected) and np.unique(multiple.round(9)).size > 1:
            return f"is off, in each row, by a multiple of that row of {spoken(name)}: is a term wrong?"
    return ""


def spoken(name: str) -> str:
    """An input's name as the learner would say it."""
    return f"what your {name} holds" if name.startswith("cache[") else name


def _broadcast(array: np.ndarray, shape: tuple[int, ...]) -> np.ndarray | None:
    if array.dtype.kind not in "fiu":
        return None
    try:
        return np.broadcast_to(np.asarray(array, float), shape)
    except ValueError:
        return None
