"""The ranks that this code runs for, and functions that only one of them, or one after another, carries out.

So a training run is written for one process. `by_first` marks what rank 0 does for all, such as writing into
the run folder, and `in_turn` what every rank needs but one of a machine should do before the others, such as
a download. Within either there is one process, whatever else is marked there.
"""

import functools
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import ParamSpec, TypeVar

from tinyvit.distributed.ranks import ALONE, Ranks

P = ParamSpec("P")
T = TypeVar("T")

_current: ContextVar[Ranks] = ContextVar("ranks", default=ALONE)


def current() -> Ranks:
    """The ranks of the training that is under way; one process on its own if nothing else is said."""
    return _current.get()


@contextmanager
def acting_as(ranks: Ranks) -> Iterator[Ranks]:
    """Within this context, these are the ranks."""
    token = _current.set(ranks)
    try:
        yield ranks
    finally:
        _current.reset(token)


def by_first(function: Callable[P, T]) -> Callable[P, T]:
    """A function that rank 0 carries out for all: see Ranks.first. A collective."""

    @functools.wraps(function)
    def run(*args: P.args, **named: P.kwargs) -> T:
        return current().first(_alone, function, args, named)

    return run


def in_turn(function: Callable[P, T]) -> Callable[P, T]:
    """A function that every rank carries out, one of each machine before the others. A collective."""

    @functools.wraps(function)
    def run(*args: P.args, **named: P.kwargs) -> T:
        return current().in_turn(_alone, function, args, named)

    return run


def _alone(function: Callable[..., T], args: tuple, named: dict) -> T:
    with acting_as(ALONE):
        return function(*args, **named)
