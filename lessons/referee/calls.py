"""The calls of an answer: the functions a check used, and what went into them and came out last.

The checks see the learner's file through a `Watched` module. It hands out the functions as they are, and
remembers two things: their names, for the report, and the latest call of each, for the diagnosis, which can
then say "0.5 too small: that is the bias" instead of "0.5 too small".
"""

from __future__ import annotations

import difflib
import functools
import inspect
import re
import types
from collections.abc import Container, Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np

from lessons.referee.fault import Fault

LARGEST = 20_000  # numbers of an argument that is copied before a call
RECENT: dict[str, Call] = {}  # the latest call of every function, the latest last; emptied before each check


@dataclass
class Call:
    """One call of a function: what went in, and what came out (None until it has)."""

    function: types.FunctionType
    args: tuple  # as they were before the call: arrays are copies
    kwargs: dict[str, Any]
    given: tuple = ()  # the positional arguments themselves
    result: Any = None

    def arguments(self) -> dict[str, Any]:
        """The arguments, by name, with the defaults of those that were not given."""
        try:
            bound = inspect.signature(self.function).bind(*self.args, **self.kwargs)
        except (TypeError, ValueError):
            return {}
        bound.apply_defaults()
        return dict(bound.arguments)


class Watched(types.ModuleType):
    """A module that remembers which of its functions were used."""

    def __init__(self, module: types.ModuleType):
        super().__init__(module.__name__, module.__doc__)
        object.__setattr__(self, "_module", module)
        object.__setattr__(self, "used", set())
        object.__setattr__(self, "asked", set())  # all names that were asked for, of functions or not

    def __getattr__(self, name: str):
        self.asked.add(name)
        module = object.__getattribute__(self, "_module")
        try:
            value = getattr(module, name)
        except AttributeError:
            raise AttributeError(_not_there(name, vars(module)), name=name, obj=module) from None
        if not isinstance(value, types.FunctionType):
            return value
        self.used.add(name)
        known = self.__dict__.setdefault("_wrapped", {})
        if name not in known or known[name].__wrapped__ is not value:
            known[name] = _remembering(name, value)
        return known[name]

    def __setattr__(self, name: str, value) -> None:
        setattr(self._module, name, value)

    def __delattr__(self, name: str) -> None:
        delattr(self._module, name)


def _not_there(name: str, names: Iterable[str]) -> str:
    similar = difflib.get_close_matches(name, names, 1)
    instead = f"; there is {similar[0]}: is that the one?" if similar else ""
    return f"the file has no {name}, which the checks call{instead}"


class LeftOut(NotImplementedError):  # noqa: N818 - no error, but the end of what a check judges
    """A function was called that a Limited module has not."""


class Limited(types.ModuleType):
    """A module of which only some functions are there; the others are to do."""

    def __init__(self, module: types.ModuleType, functions: Container[str]):
        super().__init__(module.__name__)
        for name, value in vars(module).items():
            is_other = isinstance(value, types.FunctionType) and name not in functions
            vars(self)[name] = _to_do if is_other else value


def _to_do(*args, **kwargs):
    raise LeftOut


def _remembering(name: str, function: types.FunctionType):
    @functools.wraps(function)
    def remembered(*args, **kwargs):
        RECENT.pop(name, None)  # so that the latest is last
        before = tuple(kept(each) for each in args)
        call = RECENT[name] = Call(function, before, {key: kept(each) for key, each in kwargs.items()}, args)
        call.result = function(*args, **kwargs)
        is_forward = re.search(r"\band a cache\b", function.__doc__ or "")
        return outcome(call.result, function.__name__) if is_forward else call.result

    return remembered


def outcome(result, name: str = "the forward"):
    """The pair (y, cache) that a forward returned."""
    if result is None:
        raise Fault(f"{name} returns None: does it end with return y, cache?", "y", "count")
    if not isinstance(result, tuple | list):
        one = "one array" if isinstance(result, np.ndarray) else "one thing"
        raise Fault(f"{name} returns {one}, expected y and a cache: return y, cache", "y", "count")
    if len(result) != 2:
        raise Fault(f"{name} returns {len(result)} things, expected two: y and a cache", "y", "count")
    return result


def kept(value):
    """An argument as it is now, whatever becomes of it; large ones are trusted to stay."""
    if isinstance(value, np.ndarray) and value.size <= LARGEST:
        return value.copy()
    if isinstance(value, tuple):
        return tuple(kept(each) for each in value)
    return value


def changed_in_place(got) -> str:
    """The name of the argument that a function wrote to and then returned as this result, or ""."""
    for call in reversed(RECENT.values()):
        parts = call.result if isinstance(call.result, tuple | list) else (call.result,)
        if not isinstance(got, np.ndarray) or not any(part is got for part in parts):
            continue
        names = list(call.arguments())
        for name, before, now in zip(names, call.args, call.given, strict=False):
            if isinstance(now, np.ndarray) and np.shares_memory(now, got) and not np.array_equal(before, now):
                return name
    return ""


def inputs() -> dict[str, np.ndarray]:
    """Every array that went into the latest calls, by the name of its argument, and those of the caches."""
    found: dict[str, np.ndarray] = {}
    for call in reversed(RECENT.values()):
        for name, value in call.arguments().items():
            for label, array in _arrays(name, value):
                found.setdefault(label, array)
    return dict(
        sorted(found.items(), key=lambda each: each[0].startswith("cache"))
    )  # these have no other name


def numbers() -> dict[str, float]:
    """Every number that went into the latest calls, by the name of its argument: heads, rate, betas[0]."""
    found: dict[str, float] = {}
    for call in reversed(RECENT.values()):
        for name, value in call.arguments().items():
            several = {name: value}
            if isinstance(value, tuple):  # betas, and not a shape, whose numbers are sizes
                several = {f"{name}[{i}]": each for i, each in enumerate(value) if isinstance(each, float)}
            for label, number in several.items():
                if isinstance(number, int | float) and not isinstance(number, bool):
                    found.setdefault(label, number)
    return found


def results() -> list[tuple]:
    """The latest results that have several parts."""
    return [call.result for call in reversed(RECENT.values()) if isinstance(call.result, tuple | list)]


def letters() -> dict[str, int]:
    """The sizes that the docstrings name, as K = 3 where they say q (B, N, K) and q has shape (2, 4, 3)."""
    found: dict[str, int] = {}
    for call in reversed(RECENT.values()):
        arguments = call.arguments()
        for names, axes in re.findall(r"((?:\w+(?:, | and ))*\w+) \(([^()]*)\)", call.function.__doc__ or ""):
            symbols = [axis.strip() for axis in axes.split(",") if axis.strip()]
            for name in re.split(r", | and ", names):
                shape = np.shape(arguments[name]) if isinstance(arguments.get(name), np.ndarray) else ()
                for symbol, size in zip(reversed(symbols), reversed(shape), strict=False):
                    if not re.fullmatch(r"[A-Z]\w*", symbol):
                        break  # from "..." on it is not known which axis is which
                    found.setdefault(symbol, size)
    return found


def _arrays(name: str, value) -> list[tuple[str, np.ndarray]]:
    if isinstance(value, np.ndarray):
        return [(name, value)]
    if name == "cache" and isinstance(value, tuple | list):
        arrays = [(number, each) for number, each in enumerate(value) if isinstance(each, np.ndarray)]
        return [(f"cache[{number}]", each) for number, each in arrays]
    return []
