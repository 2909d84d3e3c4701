"""A constant factor, a sign, and what the factor may be."""

from __future__ import annotations

import math
from collections.abc import Iterator

import numpy as np

from lessons.referee.questions.case import Case, axis_name, telling


def zero(case: Case) -> str:
    """Nothing but zeros."""
    return "" if np.any(case.got) or not np.any(case.expected) else "is zero everywhere"


def constant_factor(case: Case) -> str:
    """The right one times a constant."""
    if not telling(case.expected):
        return ""
    factor = float(np.vdot(case.expected, case.got) / np.vdot(case.expected, case.expected))
    if factor == 0 or not case.same(case.got / factor, case.expected) or abs(factor - 1) < case.tolerance:
        return ""
    size = abs(factor)
    if abs(size - 1) < case.tolerance:
        return "has the wrong sign everywhere"
    sign = " and has the wrong sign" if factor < 0 else ""
    large, by = ("large", size) if size > 1 else ("small", 1 / size)
    return f"is {by:.4g} times too {large} everywhere{sign}{explained(by, case)}"


def single_number(case: Case) -> str:
    """One number that is off by a factor which is one of the sizes, or has the other sign."""
    if case.got.size != 1:
        return ""
    got, expected = case.got.item(), case.expected.item()
    if _short(expected) or _short(got) or got * expected == 0:
        return ""  # of two simple numbers anything is a simple multiple
    if abs(got + expected) <= case.tolerance * abs(expected):
        return "has the wrong sign"
    by = max(abs(got / expected), abs(expected / got))
    reason = explained(by, case)
    large = "large" if abs(got) > abs(expected) else "small"
    return f"is {by:.4g} times too {large}{reason}" if reason and got * expected > 0 else ""


def explained(factor: float, case: Case) -> str:
    """What a factor greater than 1 may be, where it is a size or a number that went in, to six digits."""
    found = [text for value, text in _candidates(case) if abs(value - factor) < case.tolerance * factor]
    return f": that is {found[0]}" if found else ""


def _candidates(case: Case) -> Iterator[tuple[float, str]]:
    """Factors that are easily forgotten, and what to call them; the likeliest first."""
    for size, text in _sizes(case):
        if size > 1:
            yield size, text
            yield math.sqrt(size), f"the square root of {text}"
    for size, text in _sizes(case):
        if size > 1:
            yield size**2, f"the square of {text}"
            yield size / (size - 1), f"n / (n - 1) with n = {text}"
            yield math.sqrt(size / (size - 1)), f"the square root of n / (n - 1) with n = {text}"
    for name, value in case.numbers.items():
        if value > 0:
            for number, text in ((value, f"{name} = {value:g}"), (1 - value, f"1 - {name} = {1 - value:g}")):
                if number > 0:
                    yield max(number, 1 / number), text
                    yield max(number, 1 / number) ** 0.5, f"the square root of {text}"
    if len({axis for array in case.inputs.values() for axis in array.shape}):
        for name, array in case.inputs.items():
            rows = array.size // array.shape[-1] if array.ndim and array.shape[-1] else 0
            if array.ndim > 2 and rows > 1:
                yield rows, f"{rows}, the number of rows of {name}"
    yield math.log(10), "the logarithm of 10"
    yield 1 / math.log(2), "1 / log(2), between a logarithm to base 2 and the natural one"
    yield 255.0, "255, the largest byte"
    yield 127.5, "127.5, half the range of a byte"


def _sizes(case: Case) -> Iterator[tuple[int, str]]:
    """Every size there is, with a name: a letter of the docstrings, else an axis of an input."""
    for letter, size in case.letters.items():
        yield size, f"{letter} = {size}"
    for name, array in case.inputs.items():
        if not name.startswith("cache["):
            for axis in reversed(range(array.ndim)):
                yield array.shape[axis], f"{array.shape[axis]}, {axis_name(axis, array.ndim)} of {name}"


def _short(value: float) -> bool:
    """Whether a number has so few digits that it may have been written by hand."""
    return abs(value * 100 - round(value * 100)) < 1e-9
