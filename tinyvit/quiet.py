"""Warnings that are ignored for a while, on all threads."""

import contextlib
import warnings
from collections.abc import Iterator
from threading import Lock

_lock = Lock()
_ignored: list[tuple[type[Warning], str]] = []  # by the contexts that somebody is in
_before: list[warnings.catch_warnings] = []  # keeps the filters from before the first of them; one or none


@contextlib.contextmanager
def without_warnings(category: type[Warning] = Warning, module: str = "") -> Iterator[None]:
    """Within this context, warnings of a category from a module (a regular expression; any) are ignored.

    Python has one list of filters for all threads, and catch_warnings puts back the list that it found. If
    two such contexts overlapped, on two threads or in two generators, the last to leave would put back the
    filters of the other, for good. Here each takes away its own, and the last to leave puts back the list
    that the first to enter found.
    """
    own = category, module
    with _lock:
        _ignored.append(own)
        _filter()
    try:
        yield
    finally:
        with _lock:
            _ignored.remove(own)
            _filter()


def _filter() -> None:
    """Put back the filters from before, and then ignore what is to be ignored."""
    if _before:
        _before.pop().__exit__(None, None, None)
    if _ignored:
        _before.append(warnings.catch_warnings())
        _before[0].__enter__()
    for category, module in _ignored:
        warnings.filterwarnings("ignore", category=category, module=module)
