"""Polite requests to end: Ctrl-C, SIGTERM, and SIGHUP where a terminal goes away."""

from __future__ import annotations

import contextlib
import signal
import sys
import threading
from collections.abc import Iterator
from typing import Any

_NAMES = ("SIGINT", "SIGTERM", "SIGHUP")  # Windows has no SIGHUP


class Interrupted(Exception):  # noqa: N818 - an event, not an error
    """A request to end, by the number of its signal: the checkpoint has been saved."""

    def __init__(self, number: int):
        super().__init__(number)
        self.number = number


@contextlib.contextmanager
def stop_signals() -> Iterator[list[int]]:
    """Within, the first request to end is put on the list given; the second ends the program at once.

    Only the main thread of a program may handle signals: in any other the list stays empty.
    """
    received: list[int] = []
    if threading.current_thread() is not threading.main_thread():
        yield received
        return

    def note(number: int, frame: Any) -> None:
        if received:
            raise KeyboardInterrupt
        received.append(number)
        with contextlib.suppress(OSError, ValueError, RuntimeError):  # nobody may be there to read it
            print(
                "\nstopping after this step; press Ctrl-C again to stop at once", file=sys.stderr, flush=True
            )

    numbers = [getattr(signal, name) for name in _NAMES if hasattr(signal, name)]
    before = {number: signal.signal(number, note) for number in numbers}
    try:
        yield received
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
