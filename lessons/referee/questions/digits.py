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
