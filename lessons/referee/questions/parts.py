"""Right in one part, wrong in another."""

from __future__ import annotations

import numpy as np

from lessons.referee.questions.case import Case, axis_name, telling
from lessons.referee.questions.ratio import constant_factor, zero


def one_part(case: Case) -> str:
    """Wrong only at some indices of one axis."""
    wrong = case.wrong()
    if not wrong.any() or wrong.all() or case.expected.size < 4:
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
    where = _indices(bad, wrong.shape[axis])
    if not where or not telling(case.expected[~wrong]):
        return ""  # a few zeros that are right are no part
    part = case.part((slice(None),) * axis + (bad,))
    there = zero(part) or constant_factor(part)
    of = f" of {axis_name(axis, wrong.ndim)}" if wrong.ndim > 1 else ""
    return f"is right {where}{of}" + (
        f"; {'there' if where[0] == 'e' else 'elsewhere'} it {there}" if there else ""
    )


def diagonal(case: Case) -> str:
    """Wrong only on the diagonal, or only off it; or only where the right one is 0, or is not."""
    wrong, expected = case.wrong(), case.expected
    if expected.ndim >= 2 and expected.shape[-1] == expected.shape[-2] > 1:
        eye = np.broadcast_to(np.eye(expected.shape[-1], dtype=bool), expected.shape)
        if expected.shape[-1] > 2 and wrong[eye].all() and not wrong[~eye].any():
            return "is wrong on the diagonal, and only there"
        if expected.shape[-1] > 2 and not wrong[eye].any() and wrong[~eye].all():
            return "is right on the diagonal, and only there"
    for text, places in (
        ("should be 0", expected == 0),
        ("should be positive", expected > 0),
        ("should be negative", expected < 0),
    ):
        if places.sum() >= 2 and telling(expected[~wrong]) and np.array_equal(wrong, places):
            zero = " and is not" if text.endswith("0") else ""
            zero = ": there it is 0" if not zero and not case.got[places].any() else zero
            return f"is wrong only where it {text}{zero}"
    return ""


def zeros(case: Case) -> str:
    """Zero in some rows, right in all others."""
    wrong = case.wrong()
    if wrong.sum() >= 2 and not case.got[wrong].any() and telling(case.expected[~wrong]):
        return f"is 0 at {int(wrong.sum())} of its {wrong.size} positions, and right at the others"
    return ""


def a_few(case: Case) -> str:
    """Wrong at fewer than a quarter of the positions."""
    count, size = int(case.wrong().sum()), case.expected.size
    if size >= 8 and count and 4 * count <= size:
        return f"is wrong at {count} of its {size} positions, and right at the others"
    return ""


def _indices(bad: np.ndarray, length: int) -> str:
    """The indices of one axis at which it is right, in words; "" if that takes too many of them."""
    good = np.setdiff1d(np.arange(length), bad).tolist()
    if len(good) == 1:
        return f"only at {_spelled(good, length)}"
    if len(bad) <= 3:
        return f"except at {_spelled(bad.tolist(), length)}"
    if len(good) <= 3 or (_in_a_row(good) and len(good) < len(bad)):
        return f"only at {_spelled(good, length)}"
    if _in_a_row(bad):
        return f"except at {_spelled(bad.tolist(), length)}"
    return f"only at {_spelled(good, length)}" if _in_a_row(good) else ""


def _in_a_row(indices: list[int]) -> bool:
    return len(indices) > 0 and indices[-1] - indices[0] == len(indices) - 1


def _spelled(indices: list[int], length: int) -> str:
    if indices == [0]:
        return "the first index"
    if indices == [length - 1]:
        return "the last index"
    if len(indices) > 3:
        return f"indices {indices[0]} to {indices[-1]}"
    word = "index" if len(indices) == 1 else "indices"
    return f"{word} {', '.join(map(str, indices[:-1]))}{' and ' if indices[1:] else ''}{indices[-1]}"
