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
    if case.same(case.got, -case.expected) and np.any(case.expected):
        return "has the wrong sign everywhere"
    if np.count_nonzero(case.expected) < 3:
        return ""
    factor = float(np.vdot(case.expected, case.got) / np.vdot(case.expected, case.expected))
    if factor == 0 or not case.same(case.got / factor, case.expected):
        return ""
    size = abs(factor)
    sign = " and has the wrong sign" if factor < 0 else ""
    large, by = ("large", size) if size > 1 else ("small", 1 / size)
    if f"{by:.4g}" == "1":  # too close to be seen in the message
        return ""
    reason = explained(by, case) if telling(case.expected) else ""
    return f"is {by:.4g} times too {large} everywhere{sign}{reason}"


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
    """The origin of a factor greater than 1, if it is a size or a number that went in, to six digits.

    Two is the size of too many things to be blamed on one; and of two names for one number, neither is said.
    """
    if abs(factor - 2) < case.tolerance:
        return ""
    for group in _candidates(case):
        found = {text for value, text in group if abs(value - factor) < case.tolerance * factor}
        if found:
            return f": that is {found.pop()}" if len(found) == 1 else ""
    return ""


def _candidates(case: Case) -> Iterator[list[tuple[float, str]]]:
    """Groups of factors that are easily forgotten, and what to call them; the likeliest first."""
    sizes = [(size, text) for size, text in _sizes(case) if size > 1]
    yield sizes
    yield [(math.sqrt(size), f"the square root of {text}") for size, text in sizes]
    yield [(rows, f"{rows}, the number of rows of {name}") for name, rows in _rows(case)]
    yield [(size**2, f"the square of {text}") for size, text in sizes]
    given = [(value, f"{name} = {value:g}") for name, value in case.numbers.items() if value > 0]
    given += [
        (1 - value, f"(1 - {name}) = {1 - value:g}") for name, value in case.numbers.items() if 0 < value < 1
    ]
    given = [
        (value, text) if value >= 1 else (1 / value, f"1 / {text.split(' = ')[0]} = {1 / value:.4g}")
        for value, text in given
        if not _power_of_ten(value)
    ]
    yield given
    yield [(math.sqrt(value), f"the square root of {text}") for value, text in given]
    yield [(value**2, f"the square of {text}") for value, text in given]
    less_one = [(size / (size - 1), f"{size} / {size - 1}, with {text}") for size, text in sizes if size > 2]
    if case.got.size == 1:
        less_one = []  # a single number is too easily a ratio of small numbers
    yield less_one
    yield [(math.sqrt(value), f"the square root of {text}") for value, text in less_one]
    yield [(math.log(10), "the logarithm of 10")]
    yield [(1 / math.log(2), "1 / log(2): a logarithm to base 2 is that much larger than the natural one")]
    yield [(255.0, "255, the largest byte"), (127.5, "127.5, half the range of a byte")]


def _rows(case: Case) -> Iterator[tuple[str, int]]:
    """The name of the first input of three or more axes, and its number of rows."""
    for name, array in case.inputs.items():
        if array.ndim > 2 and array.size > array.shape[-1] and not name.startswith("cache["):
            yield name, array.size // array.shape[-1]
            return


def _sizes(case: Case) -> Iterator[tuple[int, str]]:
    """Every size there is, with a name: the letters of the docstrings, else the axes of the inputs.

    Axes of one size in several inputs, as the last ones of q and k, are called after the first.
    """
    for letter, size in case.letters.items():
        yield size, f"{letter} = {size}"
    named = set(case.letters.values())
    for name, array in case.inputs.items():
        if not name.startswith("cache["):
            for axis, size in reversed(list(enumerate(array.shape))):
                if size not in named:
                    yield size, f"{size}, the length of {axis_name(axis, array.ndim)} of {name}"
            named |= set(array.shape)


def _power_of_ten(value: float) -> bool:
    """True if a factor is 1, 10, 100, ...: too many things are, to be blamed on one."""
    return abs(math.log10(value) - round(math.log10(value))) < 1e-9


def _short(value: float) -> bool:
    """True if a number has so few digits that it may have been written by hand."""
    return abs(value * 100 - round(value * 100)) < 1e-9
