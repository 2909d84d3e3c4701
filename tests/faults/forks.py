"""Work in a fork of this process, which can be killed at any moment (Linux and macOS)."""

from __future__ import annotations

import importlib
import os
import signal
import time
from collections.abc import Callable, Sequence
from functools import partial

from tinyvit.support.shell.command import run_command


def command(name: str, words: Sequence[object]) -> Callable[[], object]:
    """A function that does what `python -m tinyvit.NAME` does with these words, after its imports."""
    module = importlib.import_module(f"tinyvit.{name}")
    return partial(run_command, module.parser(), module.main, [str(word) for word in words])


def start(work: Callable[[], object]) -> int:
    """Start work in a fork, whose standard output nobody sees; returns the number of its process."""
    if number := os.fork():
        return number
    try:
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, 1)
        work()
        os._exit(0)
    except SystemExit as leaving:
        os._exit(leaving.code or 0)
    finally:
        os._exit(70)  # an error that no command should end with


def ended(number: int, seconds: float | None = None) -> int | None:
    """The status of a process; None if it had to be killed, after so many seconds."""
    deadline = None if seconds is None else time.monotonic() + seconds
    while True:
        found, status = os.waitpid(number, 0 if deadline is None else os.WNOHANG)
        if found:
            return os.waitstatus_to_exitcode(status)
        if deadline is not None and time.monotonic() >= deadline:
            os.kill(number, signal.SIGKILL)
            status = os.waitstatus_to_exitcode(os.waitpid(number, 0)[1])
            return None if status == -signal.SIGKILL else status
        time.sleep(0.002)
