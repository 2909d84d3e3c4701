"""A check that has failed, run again on a known mistake: does it give what the learner's answer gave?

Hundreds of mistakes are tried while somebody waits. So nothing is said of their results, and gradients are
not compared with central differences but with those of the fault that is looked for, until one is alike.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import ModuleType
from typing import Any

import numpy as np

from lessons.referee.fault import Fault
from tinyvit.gradcheck import numerical_gradient

LEAST = 300  # calls that every check is counted as, for what it takes to begin
PYTHON = 4  # calls that one of a function in Python is counted as
LARGE, NUMBERS = 1000, 5  # of a larger array, so many numbers take as long as a call
PROCESS = 400_000  # calls that another process is counted as: a compiler

_quiet = False
_known: dict[tuple, np.ndarray] | None = None  # central differences, while they are remembered
_wanted: Fault | None = None


def is_quiet() -> bool:
    """True if nobody hears what is said of a result."""
    return _quiet


def wanted() -> Fault | None:
    """The fault that is looked for, if it is all that counts."""
    return _wanted


@contextmanager
def rerun(fault: Fault | None = None) -> Iterator[None]:
    """While it lasts, nothing is said of results; and if a fault is given, it alone is looked for."""
    global _quiet, _wanted
    before = _quiet, _wanted
    _quiet, _wanted = True, fault
    try:
        yield
    finally:
        _quiet, _wanted = before


@contextmanager
def remembering() -> Iterator[dict]:
    """While it lasts, central differences of a loss at a place are taken once; yields the known ones."""
    global _known
    before, _known = _known, {}
    try:
        yield _known
    finally:
        _known = before


def differences(loss, x, step=1e-5) -> np.ndarray:
    """Central differences of loss() by x; those that are known are told by the loss itself."""
    if _known is None:
        return numerical_gradient(loss, x, step)
    key = x.shape, x.tobytes(), step, float(loss())
    if key not in _known:
        _known[key] = numerical_gradient(loss, x, step)
    return _known[key]


def failure(
    check: Callable[[ModuleType], None], module: ModuleType, wanted: Exception | None = None
) -> Exception | None:
    """The error that a check raises for an answer, if any; quickly, if a fault is looked for."""
    try:
        with rerun(wanted if isinstance(wanted, Fault) and wanted.got else None):
            check(module)
    except KeyboardInterrupt:
        raise
    except BaseException as error:  # pytest.skip raises one, and so does an answer that calls sys.exit
        return error
    return None


def work(run: Callable[[], Any]) -> tuple[Any, int]:
    """The result of a function, and the work that it takes: calls, and the values that go into them."""
    count, before = LEAST, sys.getprofile()

    def counted(frame, event, argument):
        nonlocal count
        if event == "c_call":
            count += PROCESS if argument.__name__ == "fork_exec" else 1
        elif event == "call":
            names = frame.f_code.co_varnames[: frame.f_code.co_argcount]
            sizes = (getattr(frame.f_locals.get(name), "size", 0) for name in names)
            count += PYTHON + sum(size for size in sizes if isinstance(size, int) and size > LARGE) // NUMBERS

    sys.setprofile(counted)
    try:
        result = run()
        return result, count
    finally:
        sys.setprofile(before)


def unknown(loss, x, step=0.0) -> np.ndarray:
    """In the place of central differences: numbers that say nothing against any gradient."""
    return np.full(np.shape(x), np.nan)


def compared(got: dict[str, np.ndarray], expected=None) -> bool:
    """True if results are compared with those of the fault that is looked for, and with nothing else.

    Raises a Fault if one that is wrong there is the same here.
    """
    if _wanted is None:
        return False
    for name in _wanted.wrong:
        if alike(_wanted, found := Fault("", name, got=got)):
            raise found
    return expected is None or bool(np.isnan(np.asarray(expected, float)).any())


def alike(yours: Exception | None, other: Exception | None) -> bool:
    """True if a check ends with another answer as with yours: number for number, or else word for word.

    Of several wrong results, which may have several causes, one must be the same, and none besides be wrong.
    """
    if not isinstance(yours, Fault) or not isinstance(other, Fault) or not yours.got:
        return type(yours) is type(other) and str(yours) == str(other)
    if yours.kind != other.kind or not {*other.wrong} <= {*yours.wrong}:
        return False
    return any(same(yours, other, name) for name in other.wrong)


def same(a: Fault, b: Fault, name: str) -> bool:
    """True if two faults have the same values under a name."""
    return name in a.got and name in b.got and same_numbers(a.got[name], b.got[name])


def same_numbers(a, b) -> bool:
    """True if two arrays or numbers have one shape and dtype, and are the same but for rounding."""
    a, b = np.asarray(a), np.asarray(b)
    if a.shape != b.shape or a.dtype != b.dtype or a.dtype.kind not in "fiub":
        return False
    close = 1e-5 if a.dtype == np.float32 else 1e-9
    a, b = a.astype(float), b.astype(float)  # squares of large float32 numbers are infinite
    if not (np.isfinite(a) == np.isfinite(b)).all():
        return False
    a, b = (np.where(np.isfinite(each), each, 0) for each in (a, b))
    return near(a, b, close)


def near(a: np.ndarray, b: np.ndarray, close: float) -> bool:
    """True if two arrays of one shape are the same to this share of their size, which may be 1e200."""
    size = max(np.abs(b).max(initial=0), 1e-12)
    return bool(np.linalg.norm((a - b) / size) <= close * max(np.linalg.norm(b / size), 1))
