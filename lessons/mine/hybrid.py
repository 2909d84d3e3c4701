"""tinyvit with some of its functions replaced by a learner's, for as long as a `with` block lasts.

    hybrid = Hybrid({"linear": linear, "linear_backward": linear_backward}, modules)
    with hybrid.in_place():
        ...                     # every part of tinyvit, and the learner's own files, now call these two

Whoever has imported the library's function by name holds a reference to it. So the references themselves are
exchanged, in all modules of tinyvit and in those of the learner, and put back at the end. Only a file that
replaces a function keeps its reference to the library's, or it would call itself.
"""

from __future__ import annotations

import copy
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import wraps
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np

from lessons.mine.adapters import replacements
from lessons.mine.operations import OPERATION_OF, OPERATIONS, Operation
from lessons.mine.planting import Mutant
from lessons.start import load


class Broken(Exception):  # noqa: N818 - as with referee.Fault
    """A learner's function raised an error. `operation` names what it is part of."""

    def __init__(self, function: str, error: Exception):
        super().__init__(f"{function} raises {type(error).__name__}: {error}")
        self.operation = OPERATION_OF[function]


class Hybrid:
    """The library with the learner's functions `own`, by name, in the place of its own.

    modules are the learner's files that were loaded: where they import an operation from tinyvit, they get
    the learner's own too.
    """

    def __init__(self, own: Mapping[str, Callable], modules: Sequence[ModuleType] = ()):
        self.own = {name: self._watched(name, function) for name, function in own.items()}
        self.operations = [o for o in OPERATIONS if all(name in own for name in o.functions)]
        self._modules = modules
        self._raw = own
        self._calls: dict[str, list[tuple]] | None = None

    @contextmanager
    def in_place(self, *more: ModuleType) -> Iterator[None]:
        """Within this context, the learner's functions are those of tinyvit, and of more modules."""
        new = {id(old): function for old, function in replacements(self.own).items()}
        exchanged: list[tuple[ModuleType, str, Any]] = []
        loaded = [module for name, module in sys.modules.items() if name.partition(".")[0] == "tinyvit"]
        try:
            for module in [*loaded, *self._modules, *more]:
                written_there = {n for n, f in self._raw.items() if vars(module).get(n) is f}
                for name, value in list(vars(module).items()):
                    if module not in loaded and name in written_there:
                        other = self.own[name]  # watched, for the functions beside it that call it
                    elif id(value) in new and (module in loaded or value.__name__ not in written_there):
                        other = new[id(value)]
                    else:
                        continue
                    exchanged.append((module, name, value))
                    setattr(module, name, other)
            yield
        finally:
            for module, name, value in exchanged:
                setattr(module, name, value)

    @contextmanager
    def recording(self) -> Iterator[dict[str, list[tuple]]]:
        """Within this context, the arguments of every call of a learner's function, by its name."""
        self._calls = {}
        try:
            yield self._calls
        finally:
            self._calls = None

    def _watched(self, name: str, function: Callable) -> Callable:
        """The function, with its calls recorded, and its errors under the operation's name."""

        @wraps(function)
        def watched(*args, **kwargs):
            if self._calls is not None:
                self._record(name, args, kwargs)
            try:
                return function(*args, **kwargs)
            except Broken:
                raise
            except Exception as error:
                raise Broken(name, error) from error

        return watched

    def _record(self, name: str, args: tuple, kwargs: dict) -> None:
        """Keep a copy of a call's arguments; of calls with arguments of the same shapes, only the first."""
        calls = self._calls.setdefault(name, [])
        if len(calls) < 8 and all(_form((args, kwargs)) != _form(call) for call in calls):
            calls.append(copy.deepcopy((args, kwargs)))


def assemble(
    files: Mapping[int, Path], operations: Iterable[Operation], *, planted: Mutant | None = None
) -> Hybrid:
    """The hybrid of these operations, each from the file of its lesson, and of what a mutant spoils.

    An operation that is made of a planted one is left to the library, which certainly calls what is planted:
    a learner's attention may have its own way with the softmax, and pass the planted one by.
    """
    spoiled = planted.operations if planted else []
    bypassing = {name for operation in spoiled for name in operation.inside}
    kept = [o for o in operations if o.name not in bypassing and o not in spoiled]
    modules = {number: load(files[number]) for number in {o.lesson for o in kept}}
    own = {name: getattr(modules[o.lesson], name) for o in kept for name in o.functions}
    if planted:
        own |= {name: getattr(planted.module, name) for o in spoiled for name in o.functions}
    return Hybrid(own, [*modules.values(), *([planted.module] if planted else [])])


def _form(value: Any) -> Any:
    """The shapes of the arrays in nested arguments, and all other values as text."""
    if isinstance(value, np.ndarray):
        return value.shape
    if isinstance(value, tuple | list):
        return tuple(_form(item) for item in value)
    if isinstance(value, Mapping):
        return tuple((name, _form(item)) for name, item in value.items())
    return type(value) if hasattr(value, "__dict__") else repr(value)
