"""Right in one part, wrong in another."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from lessons.referee.questions.case import Case, axis_name


def one_part(case: Case, inside: Callable[[Case], str]) -> str:
    """Wrong only at some indices of one axis; `inside` says what is the matter there."""
    wrong = case.wrong()
    if not wrong.any() or wrong.all() or case.expected.ndim == 0 or case.expected.size < 4:
        return ""
    best: tuple[float, int, np.ndarray] | None = None
    for axis in range(wrong.ndim):
        others = tuple(a for a in range(wrong.ndim) if a != axis)
        bad = np.flatnonzero(wrong.any(axis=others))
        share = len(bad) / wrong.shape[axis]
        if share < 1 and (best is None or share < best[0]):
            best = share, axis, bad
    if best is None:
        return diagonal(case)
    _, axis, bad = best
    length, ndim = wrong.shape[axis], wrong.ndim
    part = case.part((slice(None),) * axis + (bad,))
    there = inside(part) if part.got.size > 1 else ""
    where = _indices(bad, length, axis_name(axis, ndim) if ndim > 1 else "")
    if there:
        return f"is right except {where}; there it {there}"
    return f"is right except {where}"


def diagonal(case: Case) -> str:
    """Wrong only on the diagonal, or only off it; or only where the right one is 0, or is not."""
    wrong, expected = case.wrong(), case.expected
    if expected.ndim >= 2 and expected.shape[-1] == expected.shape[-2] > 1:
        eye = np.broadcast_to(np.eye(expected.shape[-1], dtype=bool), expected.shape)
        if wrong[eye].all() and not wrong[~eye].any():
            return "is wrong on the diagonal, and only there"
        if not wrong[eye].any() and wrong[~eye].all():
            return "is right on the diagonal, and only there"
    for text, places in (
        ("should be 0", expected == 0),
        ("should be positive", expected > 0),
        ("should be negative", expected < 0),
    ):
        if places.sum() >= 2 and (~places).sum() >= 2 and wrong[places].all() and not wrong[~places].any():
            zero = " and is not" if text.endswith("0") else ""
            zero = ": there it is 0" if not zero and not case.got[places].any() else zero
            return f"is wrong only where it {text}{zero}"
    return ""


def zeros(case: Case) -> str:
    """Zero in some rows, right in all others."""
    wrong = case.wrong()
    if wrong.any() and not wrong.all() and not case.got[wrong].any() and wrong.sum() >= 2:
        return f"is 0 at {int(wrong.sum())} of its {wrong.size} positions, and right at the others"
    return ""


def a_few(case: Case) -> str:
    """Wrong at fewer than a quarter of the positions."""
    count, size = int(case.wrong().sum()), case.expected.size
    if size >= 8 and count and 4 * count <= size:
        return f"is wrong at {count} of its {size} positions, and right at the others"
    return ""


def _indices(bad: np.ndarray, length: int, axis: str) -> str:
    of = f" of {axis}" if axis else ""
    if list(bad) == [0]:
        return f"at the first index{of}"
    if list(bad) == [length - 1]:
        return f"at the last index{of}"
    if list(bad) == list(range(1, length)):
        return f"that all but the first index{of} are wrong"
    if list(bad) == list(range(length - 1)):
        return f"that all but the last index{of} are wrong"
    if len(bad) == 1:
        return f"at index {bad[0]}{of}"
    shown = ", ".join(map(str, bad[:6])) + (", ..." if len(bad) > 6 else "")
    return f"at the indices {shown}{of}"
