"""Nearly right: rounding, cutting, another form of the same function."""

from __future__ import annotations

import math

import numpy as np

from lessons.referee.questions.case import Case, telling


def rounded(case: Case) -> str:
    """The right one, cut or rounded to whole numbers."""
    if case.expected.dtype.kind != "f" or not telling(case.expected) or not telling(case.got):
        return ""  # zeros and ones are rather a choice, or the identity
    if case.same(case.expected, np.rint(case.expected)):
        return ""
    for cut, text in ((np.rint, "rounded"), (np.trunc, "cut"), (np.floor, "rounded down")):
        if np.array_equal(case.got, cut(case.expected)):
            return f"is the right one {text} to whole numbers"
    return ""


def byte_wrapped(case: Case) -> str:
    """Off by multiples of a byte's range, when bytes went in."""
    if not any(array.dtype == np.uint8 for array in case.inputs.values()):
        return ""
    steps = np.abs(case.difference[case.wrong()])
    if steps.size < 2:
        return ""
    for divisor in (
        1.0,
        127.5,
        255.0,
        *(float(a.size // s) for a in case.inputs.values() for s in _parts(a)),
    ):
        multiples = steps * divisor / 256
        if multiples.max() < 1e6 and np.abs(multiples - np.rint(multiples)).max() < 1e-6:
            by = "256" if divisor == 1 else f"256 / {divisor:g}"
            return f"is off by multiples of {by}, as when a byte passes 255 and begins again at 0"
    return ""


def few_digits(case: Case) -> str:
    """The right one to some digits."""
    size = np.abs(case.expected).max(initial=0)
    error = np.abs(case.difference).max(initial=0) / size if size else math.inf
    if not 0 < error < 2e-3:
        return ""
    digits = math.floor(-math.log10(error))
    if 6 <= digits <= 8 and case.got.dtype != np.float32:
        return f"is right to {digits} digits and no more, about as many as float32 has"
    return (
        f"is right to {digits} digits and no more: what is wrong is small, a term, a constant or a rounding"
    )


def _parts(array: np.ndarray) -> set[int]:
    """Numbers by which an image array's size is divided when some of its axes are averaged over."""
    shape = array.shape
    return {
        int(np.prod([n for bit, n in enumerate(shape) if mask >> bit & 1]))
        for mask in range(1, 2 ** len(shape))
    }
