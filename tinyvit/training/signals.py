"""Handling requests to stop: Ctrl-C, SIGTERM, and SIGHUP when a terminal closes."""

from __future__ import annotations

import contextlib
import signal
import sys
import threading
from collections.abc import Callable, Iterator, Sequence
from typing import Any

_NAMES = ("SIGINT", "SIGTERM", "SIGHUP")  # Windows has no SIGHUP


class Interrupted(Exception):  # noqa: N818 - an event, not an error
    """Training was stopped by the signal with this number, after saving a checkpoint."""

    def __init__(self, number: int):
        super().__init__(number)
        self.number = number


@contextlib.contextmanager
def stop_signals() -> Iterator[list[int]]:
    """Within this context, the first stop signal is appended to the yielded list; the second stops at once.

    A SIGHUP that is ignored stays ignored, since that is how nohup keeps a program running. Only the main
    thread of a program may handle signals; in any other thread the list stays empty.
    """
    received: list[int] = []

    def note(number: int, frame: Any) -> None:
        if received:
            raise KeyboardInterrupt
        received.append(number)
        with contextlib.suppress(OSError, ValueError, RuntimeError):  # standard error may be closed
            print(
                "\nstopping after this step; press Ctrl-C again to stop at once", file=sys.stderr, flush=True
            )

    with _handled(_NAMES, note):
        yield received


@contextlib.contextmanager
def unwinding_signals() -> Iterator[None]:
    """Within this context, SIGTERM and SIGHUP end the program as Ctrl-C does: what was begun is undone."""

    def leave(number: int, frame: Any) -> None:
        sys.exit(128 + number)

    with _handled(_NAMES[1:], leave):
        yield


@contextlib.contextmanager
def _handled(names: Sequence[str], handler: Callable[[int, Any], None]) -> Iterator[None]:
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    numbers = [getattr(signal, name) for name in names if hasattr(signal, name) and not _left_to_nohup(name)]
    before = {number: signal.signal(number, handler) for number in numbers}
    try:
        yield
    finally:
        for number, handler_before in before.items():
            signal.signal(number, handler_before)


def _left_to_nohup(name: str) -> bool:
    return name == "SIGHUP" and signal.getsignal(signal.SIGHUP) is signal.SIG_IGN
