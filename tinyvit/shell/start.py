"""Ctrl-C while a command is still being imported: the program ends, without a traceback.

What a command needs takes a noticeable time to import, and no code of the command runs before that, so it
cannot catch anything. Until `shell.ending` takes over, the signal therefore has its default action.
"""

import signal
import sys


def is_starting_a_command() -> bool:
    """Whether this program is `python -m tinyvit...`, and Python is still looking for that module."""
    words = getattr(sys, "argv", [])
    if words[:1] != ["-m"]:
        return False
    module = sys.orig_argv[-len(words)].removeprefix("-m")  # after -m, or together with it
    return module.partition(".")[0] == "tinyvit"


def end_on_ctrl_c() -> None:
    """Let Ctrl-C end the program at once, unless it is ignored or handled already."""
    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
        signal.signal(signal.SIGINT, signal.SIG_DFL)


def catch_ctrl_c() -> None:
    """Undo end_on_ctrl_c: from now on Ctrl-C raises KeyboardInterrupt."""
    if signal.getsignal(signal.SIGINT) is signal.SIG_DFL:
        signal.signal(signal.SIGINT, signal.default_int_handler)
