"""Warnings that are ignored for a while, on all threads."""

from __future__ import annotations

import contextlib
import warnings
from collections.abc import Iterator
from threading import Lock

_lock, _inside = Lock(), 0
_filters = warnings.catch_warnings()  # of the first to enter


@contextlib.contextmanager
def without_warnings(category: type[Warning] = Warning, module: str = "") -> Iterator[None]:
    """Within this context, warnings of a category from a module (a regular expression; any) are ignored.

    Python has one list of filters for all threads, and catch_warnings puts back the list that it found. If
    two such contexts overlapped, on two threads or in two generators, the last to leave would put back the
    filters of the other, for good. Here the last to leave puts back the list that the first to enter found.
    """
    global _inside, _filters
    with _lock:
        if not _inside:
            _filters = warnings.catch_warnings()
            _filters.__enter__()
        _inside += 1
        warnings.filterwarnings("ignore", category=category, module=module)
    try:
        yield
    finally:
        with _lock:
            _inside -= 1
            if not _inside:
                _filters.__exit__(None, None, None)
