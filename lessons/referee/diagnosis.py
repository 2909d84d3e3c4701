"""The diagnosis of a wrong array: its relation to the right one, in a sentence that says only what is true.

The questions are asked in an order, the most telling first, and the first that has an answer is heard. Each
says what holds for the two arrays to six digits; what to conclude is left to the reader, or asked.
"""

from __future__ import annotations

import numpy as np

from lessons.referee import calls
from lessons.referee.questions import (
    arrangement,
    borrowed,
    digits,
    invariants,
    offset,
    parts,
    ratio,
    shape,
)
from lessons.referee.questions.case import Case
from lessons.referee.rerun import is_quiet

FIRST = (
    ratio.zero,
    ratio.single_number,
    borrowed.an_input,
    ratio.constant_factor,
    borrowed.exchanged,
    arrangement.transposed,
    arrangement.shifted,
    arrangement.slices_exchanged,
    borrowed.offset_by_input,
    borrowed.factor_of_input,
    digits.rounded,
    offset.constant_offset,
    arrangement.rearranged,
)
THEN = (
    parts.zeros,
    digits.few_digits,
    offset.offset_of_each_row,
    offset.factor_of_each_row,
    offset.once_an_input_is_off,
    invariants.sums,
    borrowed.multiple_in_each_row,
    invariants.without_change,
    parts.a_few,
)


def diagnose(
    got: np.ndarray,
    expected: np.ndarray,
    name: str = "",
    others: dict[str, np.ndarray] | None = None,
    inputs: dict[str, np.ndarray] | None = None,
    returned: dict[int, np.ndarray] | None = None,
) -> str:
    """The fault of `got`, as the end of a sentence that begins with its name; "" if unknown.

    others: what the other results should be, by name. returned: what came together with `got`, by position.
    inputs: what went in; if not given, the arguments of the latest calls.
    """
    got, expected = np.asarray(got), np.asarray(expected)
    if is_quiet() or any(array.dtype.kind not in "fiu" or not array.size for array in (got, expected)):
        return ""
    if not np.isfinite(got).all() or not np.isfinite(expected).all():
        return ""
    if got.shape != expected.shape:
        for number, part in (returned or {}).items():
            if shape.same(part, expected):
                return f"that is returned as number {number + 1}; are the results in the right order?"
        return shape.wrong_shape(got, expected)
    unasked = inputs is None
    if unasked:
        if argument := calls.changed_in_place(got):
            return f"is {argument} itself, which was changed in place: make a new array"
        # A large argument is not copied before the call: if it is the result too, it was written over.
        inputs = {each: x for each, x in calls.inputs().items() if not np.may_share_memory(x, got)}
    case = Case(
        got,
        expected,
        name,
        inputs,
        calls.numbers() if unasked else {},
        calls.letters() if unasked else {},
        others or {},
    )
    with np.errstate(all="ignore"):
        if not case.wrong().any():
            return digits.few_digits(case)
        for question in (*FIRST, parts.one_part, *THEN):
            if answer := question(case):
                return answer
    return ""
