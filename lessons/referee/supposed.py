"""Is a wrong result the right one of other inputs: is it what it should be if the gain were all ones?

Whoever forgets an input, transposes a matrix, takes one input for another or divides by the wrong size gets
the right answer to another question. The question is found by trying: the inputs are changed one at a time,
and the right result of each change is compared with what came.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from itertools import permutations

import numpy as np

from lessons.referee import calls
from lessons.referee.questions.case import telling
from lessons.referee.rerun import is_quiet, work

WORK = 2_000_000  # calls, for all that is tried together
CLOSE = 1e-6  # central differences are right to about 1e-10

Inputs = dict[str, np.ndarray]


def supposed(got, right: Callable[[Inputs], np.ndarray], inputs: Inputs) -> str:
    """The end of a sentence "dx is what it should be if ...", or "".

    right gives the result, as it should be, of all inputs, which are given by name in float64.
    """
    got = np.asarray(got, float)
    if is_quiet() or not telling(got) or not np.isfinite(got).all():
        return ""
    left, found = WORK, []
    for text, changed in _changes(inputs):
        if left < 0:
            break
        if all(np.array_equal(array, inputs[name]) for name, array in changed.items()):
            continue
        with np.errstate(all="ignore"):
            try:
                other, price = work(lambda changed=changed: np.asarray(right(inputs | changed), float))
            except (ValueError, IndexError, ZeroDivisionError):
                continue  # what cannot be worked out was not worked out
        left -= price
        if other.shape == got.shape and np.linalg.norm(got - other) <= CLOSE * np.linalg.norm(other):
            found.append(text)
    return f"is what it should be if {_together(found)}" if 0 < len(found) <= 3 else ""


def _together(found: list[str]) -> str:
    """Several changes in one sentence: of those that are the same, the names alone."""
    names: dict[str, list[str]] = {}
    for text in found:
        name, verb, change = text.partition(" were ")
        names.setdefault(verb + change, []).append(name)
    return ", or if ".join(" or ".join(those) + change for change, those in names.items())


def _changes(inputs: Inputs) -> Iterator[tuple[str, Inputs]]:
    """The arrays that may have been taken for the inputs, and the words for it, the likeliest first."""
    pairs = [(a, b) for a in inputs for b in inputs if a != b and inputs[a].shape == inputs[b].shape]
    for name, array in inputs.items():
        yield f"{name} were zero", {name: np.zeros_like(array)}
        yield f"{name} were all ones", {name: np.ones_like(array)}
        if array.ndim >= 2 and array.shape[-1] == array.shape[-2]:
            yield f"{name} were its transpose", {name: array.swapaxes(-1, -2).copy()}
            eye = np.broadcast_to(np.eye(array.shape[-1]), array.shape)
            yield f"{name} were the identity matrix", {name: eye.copy()}
    for a, b in pairs:
        yield f"{a} were {b}", {a: inputs[b].copy()}
        if list(inputs).index(a) < list(inputs).index(b):
            yield f"{a} and {b} were exchanged", {a: inputs[b].copy(), b: inputs[a].copy()}
    for (a, ours), (b, theirs) in permutations(_groups(inputs).items(), 2):
        if [(end, inputs[each].shape) for end, each in ours.items()] == [
            (end, inputs[each].shape) for end, each in theirs.items()
        ]:
            changed = {each: inputs[theirs[end]].copy() for end, each in ours.items()}
            yield f"{a} were {b}", changed
            if a < b:
                other = {each: inputs[ours[end]].copy() for end, each in theirs.items()}
                yield f"{a} and {b} were exchanged", changed | other
    for name, array in inputs.items():
        yield f"{name} were of the other sign", {name: -array}
        for size, text in _sizes():
            for factor, reason in ((size, text), (math.sqrt(size), f"the square root of {text}")):
                yield (
                    f"{name} were {factor:.4g} times as large: that is {reason}",
                    {name: array * factor},
                )
                yield (
                    f"{name} were {factor:.4g} times smaller: that is {reason}",
                    {name: array / factor},
                )


def _groups(inputs: Inputs) -> dict[str, dict[str, str]]:
    """The inputs with a dot in their name, as norm1.weight, by what stands before it, and then after it."""
    groups: dict[str, dict[str, str]] = {}
    for name in inputs:
        first, dot, rest = name.rpartition(".")
        if dot:
            groups.setdefault(first, {})[rest] = name
    return groups


def _sizes() -> Iterator[tuple[int, str]]:
    """The sizes that the docstrings name, as "K = 3"; of two that are equal, neither."""
    letters = calls.letters()
    for letter, size in letters.items():
        if size > 2 and list(letters.values()).count(size) == 1:
            yield size, f"{letter} = {size}"
