"""Functions of the same code have the same fingerprint, and no others."""

from types import ModuleType

import numpy as np
import pytest

from lessons.referee.fingerprint import fingerprint

CODE = """
import numpy as np
RATE = 0.5

def helper(x):
    return x * RATE

def answer(x, more=1):
    return helper(x) + more

def other(x):
    return np.exp(x)

def again(n):
    return [again(n - 1) for _ in range(n)]
"""
NAMES = {"helper", "answer", "other", "again"}


def module_of(text):
    module = ModuleType("an_answer")
    exec(text, vars(module))
    return module


def test_where_a_function_stands_does_not_matter():
    one, two = module_of(CODE), module_of("\n\n# A comment\n" + CODE)
    for name in NAMES:
        assert fingerprint(getattr(one, name)) == fingerprint(getattr(two, name)) is not None


@pytest.mark.parametrize(
    ("old", "new", "changed"),
    [
        ("x * RATE", "x / RATE", {"answer", "helper"}),
        ("0.5", "0.6", {"answer", "helper"}),
        ("more=1", "more=2", {"answer"}),
        ("np.exp", "np.log", {"other"}),
        ("import numpy as np", "import math as np", {"other"}),
        ("again(n - 1)", "again(n - 2)", {"again"}),
    ],
)
def test_whatever_a_function_uses_counts(old, new, changed):
    one, two = module_of(CODE), module_of(CODE.replace(old, new))
    assert {n for n in NAMES if fingerprint(getattr(one, n)) != fingerprint(getattr(two, n))} == changed


def test_what_it_has_closed_over_counts():
    def add(array):
        return lambda x: x + array

    assert fingerprint(add(np.arange(3.0))) == fingerprint(add(np.arange(3.0)))
    assert fingerprint(add(np.arange(3.0))) != fingerprint(add(np.arange(4.0)))


def test_of_what_may_change_there_is_none():
    rng = np.random.default_rng(0)
    draw = rng.normal
    for thing in (rng, draw, module_of(CODE), lambda x: x + rng.normal(), lambda x: x + draw()):
        assert fingerprint(thing) is None
