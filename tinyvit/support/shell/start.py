"""Before a command is imported: Ctrl-C, or a missing package, ends the program without a traceback.

The imports of a command take a noticeable time, and no code of the command runs before that, so it cannot
catch anything. Until `shell.ending` takes over, Ctrl-C therefore has its default action.
"""

import signal
import sys
from importlib.util import find_spec


def is_starting_a_command() -> bool:
    """True if this program is `python -m tinyvit...`, and Python is still looking for that module."""
    words = getattr(sys, "argv", [])
    if words[:1] != ["-m"]:
        return False
    module = sys.orig_argv[-len(words)].removeprefix("-m")  # after -m, or together with it
    return module.partition(".")[0] == "tinyvit"


def end_without_packages() -> None:
    """End the program with one line if this Python lacks a package that all commands need."""
    missing = [package for package, name in (("numpy", "numpy"), ("pillow", "PIL")) if not find_spec(name)]
    if missing:
        print(
            f"tinyvit: error: {sys.executable} does not have {' and '.join(missing)}: activate the "
            "environment that tinyvit is installed in, or install them: "
            f"{sys.executable} -m pip install {' '.join(missing)}",
            file=sys.stderr,
        )
        sys.exit(2)


def end_on_ctrl_c() -> None:
    """Let Ctrl-C end the program at once, unless it is ignored or handled already."""
    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
        signal.signal(signal.SIGINT, signal.SIG_DFL)


def catch_ctrl_c() -> None:
    """Undo end_on_ctrl_c: from now on Ctrl-C raises KeyboardInterrupt."""
    if signal.getsignal(signal.SIGINT) is signal.SIG_DFL:
        signal.signal(signal.SIGINT, signal.default_int_handler)
