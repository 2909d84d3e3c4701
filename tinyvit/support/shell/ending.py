"""The end of a program: one line for a user's mistake, and a traceback only for a bug."""

import contextlib
import errno
import os
import sys
import warnings
from collections.abc import Container, Iterator
from typing import NoReturn, TextIO

from tinyvit.support.distributed import error_prefix
from tinyvit.support.errors import UserError, one_line
from tinyvit.support.files.atomic import NO_ROOM
from tinyvit.support.shell.moving_line import MovingLine
from tinyvit.support.shell.start import catch_ctrl_c

# How NumPy says, in a ValueError, that no computer has the memory for an array.
_BEYOND_MEMORY = ("Maximum allowed dimension exceeded", "array is too big")


@contextlib.contextmanager
def ending(name: str, flags: Container[str] = ()) -> Iterator[None]:
    """Within this context, a program of this name exits as users expect: their mistakes show no traceback.

    A user's mistake or a system error prints one line on standard error and exits with status 2; Ctrl-C exits
    with status 130. A closed pipe, as in `... | head -1`, exits quietly with status 0, unless the program had
    already chosen another one, as for a training run that it has cut short. Where a stream is closed from
    the start, as in `... >&-`, what would be printed there is dropped. A warning is one line on standard
    error. Only bugs show a traceback. flags are those of the program, which may be advised.
    """
    _fill_in_closed_streams()
    catch_ctrl_c()
    before, warnings.formatwarning = warnings.formatwarning, lambda text, *_: f"{name}: {text}\n"
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="replace")  # do not fail on a name that the terminal cannot show
    try:
        yield
        _flush()  # here, where an error can still be reported
    except BrokenPipeError:  # the reader, such as head or a pager, has stopped reading
        sys.exit(0)
    except UserError as error:
        _complain(name, f"error: {error}")
        sys.exit(2)
    except OSError as error:
        if error.errno in NO_ROOM and not error.filename:  # unlike files, which tell their names
            remedy = "Free some space, or send it elsewhere."
            fail(name, f"cannot write to standard output: {error.strerror}. {remedy}")
        fail(name, ": ".join(str(part) for part in (error.filename, error.strerror or error) if part))
    except (MemoryError, ValueError) as error:
        if not is_lack_of_memory(error):
            raise
        why = str(error).removesuffix(".") or "the system gives no more"
        smaller = ", ".join(flag for flag in ("--batch-size", "--resolution") if flag in flags)
        fail(name, f"not enough memory: {why}. Try a smaller {smaller}{' or ' * bool(smaller)}model.")
    except RuntimeError as error:
        if "can't start new thread" not in str(error):
            raise
        fail(name, "the system does not allow so many threads: give a smaller --threads.")
    except KeyboardInterrupt:
        _complain(name, "interrupted", "\n")
        sys.exit(130)
    finally:
        warnings.formatwarning = before
        _empty(sys.stdout)
        _empty(sys.stderr)


def _flush() -> None:
    """Flush standard output, unless it was a pipe or a terminal that has been closed."""
    try:
        print(end="", flush=True)
    except BrokenPipeError:
        pass  # the program has ended, and its status counts
    except OSError as error:
        if error.errno != errno.EIO:
            raise


def _fill_in_closed_streams() -> None:
    """Open the null device in place of standard streams that are closed.

    Otherwise the next file to be opened would get the number of standard output, and what a library prints
    would end up in it.
    """
    for name, mode in (("stdin", "r"), ("stdout", "w"), ("stderr", "w")):
        if getattr(sys, name) is None:
            setattr(sys, name, open(os.devnull, mode))  # noqa: SIM115 - open as long as the program runs


def is_lack_of_memory(error: Exception) -> bool:
    """True if an array did not fit into memory, or could not fit into the memory of any computer."""
    return isinstance(error, MemoryError) or str(error).startswith(_BEYOND_MEMORY)


def fail(name: str, message: str) -> NoReturn:
    """Exit with status 2 and one line on standard error."""
    _complain(name, f"error: {one_line(message)}")
    sys.exit(2)


def _complain(name: str, message: str, before: str = "") -> None:
    """Print a line on standard error, after flushing standard output; either may be closed.

    Of several processes that fail in the same way, only one prints it.
    """
    speaker = error_prefix(name)
    if speaker is None:
        return
    with contextlib.suppress(OSError):
        if MovingLine.shown:
            MovingLine.shown.close()
    _empty(sys.stdout)
    with contextlib.suppress(OSError):
        print(f"{before}{speaker}: {message}", file=sys.stderr)


def _empty(stream: TextIO | None) -> None:
    """Flush a stream; if its reader has gone, discard the rest, or Python would complain on exit."""
    if stream is None:  # a program without a console
        return
    try:
        stream.flush()
    except OSError:
        with contextlib.suppress(OSError):
            nowhere = os.open(os.devnull, os.O_WRONLY)
            os.dup2(nowhere, stream.fileno())
            os.close(nowhere)
