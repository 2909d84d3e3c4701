"""Handling requests to stop: Ctrl-C, SIGTERM, SIGHUP when a terminal closes, and a time limit."""

import contextlib
import math
import signal
import sys
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from tinyvit.support.distributed import current

_NAMES = ("SIGINT", "SIGTERM", "SIGHUP")  # Windows has no SIGHUP


OUT_OF_TIME = 0  # in place of a signal's number
NO_READER = 13  # the number of SIGPIPE, which Windows does not have


class Interrupted(Exception):  # noqa: N818 - an event, not an error
    """Training was stopped by the signal with this number, or by OUT_OF_TIME, after saving a checkpoint."""

    def __init__(self, number: int):
        super().__init__(number)
        self.number = number


_GO_ON = -1  # less than any reason to stop


class StopRequest:
    """True once a signal has arrived, or time.monotonic() has reached the deadline, at any of the ranks.

    To look whether it is true is a collective of the ranks.
    """

    def __init__(self, deadline: float = math.inf):
        self.deadline, self.ranks = deadline, current()
        self.arrived = _GO_ON  # the number of a signal to this process
        self.number = OUT_OF_TIME  # once it is true: of a signal to any of them, or this

    def __bool__(self) -> bool:
        reason = self.arrived
        if reason == _GO_ON and time.monotonic() >= self.deadline:
            reason = OUT_OF_TIME
        reason = self.ranks.max(reason)
        self.number = max(reason, OUT_OF_TIME)
        return reason != _GO_ON


@contextlib.contextmanager
def stop_signals(deadline: float = math.inf) -> Iterator[StopRequest]:
    """Within this context, the first stop signal makes the yielded request true; the second stops at once.

    A signal to one rank stops all.

    A SIGHUP that is ignored stays ignored, since that is how nohup keeps a program running. Only the main
    thread of a program may handle signals; in any other thread only the deadline counts.
    """
    request = StopRequest(deadline)

    def note(number: int, frame: Any) -> None:
        if request.arrived != _GO_ON:
            raise KeyboardInterrupt
        request.arrived = number
        if not request.ranks.is_first:
            return
        with contextlib.suppress(OSError, ValueError, RuntimeError):  # standard error may be closed
            print(
                "\nstopping after this step; press Ctrl-C again to stop at once", file=sys.stderr, flush=True
            )

    with _handled(_names(), note):
        yield request


@contextlib.contextmanager
def unwinding_signals() -> Iterator[None]:
    """Within this context, SIGTERM and SIGHUP end the program as Ctrl-C does: what was begun is undone.

    Of several ranks, SIGUSR1 does so too.
    """

    def leave(number: int, frame: Any) -> None:
        sys.exit(128 + number)

    with _handled(_names()[1:], leave):
        yield


def _names() -> tuple[str, ...]:
    """The signals that stop these ranks; SIGUSR1 is what mpiexec passes on."""
    return (*_NAMES, "SIGUSR1") if current().size > 1 else _NAMES


@contextlib.contextmanager
def _handled(names: Sequence[str], handler: Callable[[int, Any], None]) -> Iterator[None]:
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    numbers = [getattr(signal, name) for name in names if hasattr(signal, name)]
    before = {number: signal.signal(number, handler) for number in numbers if not _left_to_others(number)}
    try:
        yield
    finally:
        for number, handler_before in before.items():
            signal.signal(number, handler_before)


def _left_to_others(number: int) -> bool:
    """True if nohup ignores this signal, or a program that Python is a part of handles it."""
    now = signal.getsignal(number)
    return now is None or (now is signal.SIG_IGN and number == getattr(signal, "SIGHUP", None))
