"""What all commands share: how the command line is parsed, and how the program exits."""

from __future__ import annotations

import argparse
import contextlib
import math
import os
import re
import sys
import textwrap
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import NoReturn, TextIO

from tinyvit.errors import UserError
from tinyvit.parallel import one_job, voice
from tinyvit.shell.moving_line import MovingLine

MOST_THREADS = 256

_CALL = re.compile(r"`python -m tinyvit[^`]*`: ")  # how the docstring of a command begins


def run_command(
    parser: argparse.ArgumentParser,
    main: Callable[[argparse.Namespace], int | None],
    words: Sequence[str] | None = None,
) -> NoReturn:
    """Parse the command line, call main with the result, and exit with the status it returns (None: 0).

    words are the command-line arguments, by default sys.argv[1:]. See `ending` for what happens when main
    fails, and `one_job` for what happens to the other processes of its job.
    """
    with one_job(), ending(parser.prog):
        status = main(parser.parse_args(words)) or 0
    sys.exit(status)


@contextlib.contextmanager
def ending(name: str) -> Iterator[None]:
    """Within this context, a program of this name exits as users expect: their mistakes show no traceback.

    A user's mistake or a system error prints one line on standard error and exits with status 2; Ctrl-C exits
    with status 130; a closed pipe, as in `... | head -1`, exits quietly with status 0. Only bugs show a
    traceback.
    """
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="replace")  # do not fail on a name that the terminal cannot show
    try:
        yield
        print(end="", flush=True)  # here, where an error can still be reported
    except BrokenPipeError:  # the reader, such as head or a pager, has stopped reading
        sys.exit(0)
    except UserError as error:
        _fail(name, str(error))
    except OSError as error:
        _fail(name, ": ".join(str(part) for part in (error.filename, error.strerror or error) if part))
    except MemoryError as error:
        _fail(name, f"not enough memory: {error}. Try a smaller --batch-size, --resolution or model.")
    except KeyboardInterrupt:
        _complain(name, "interrupted", "\n")
        sys.exit(130)
    finally:
        _empty(sys.stdout)
        _empty(sys.stderr)


def _fail(name: str, message: str) -> NoReturn:
    _complain(name, f"error: {' '.join(message.splitlines())}")
    sys.exit(2)


def _complain(name: str, message: str, before: str = "") -> None:
    """Print a line on standard error, after flushing standard output; either may be closed.

    Of several processes that fail in the same way, only one prints it.
    """
    name = voice(name)
    if name is None:
        return
    with contextlib.suppress(OSError):
        if MovingLine.shown:
            MovingLine.shown.close()
    _empty(sys.stdout)
    with contextlib.suppress(OSError):
        print(f"{before}{name}: {message}", file=sys.stderr)


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


class _Parser(argparse.ArgumentParser):
    """A parser whose errors are one line, like all others; flags may be anywhere on the command line."""

    def parse_args(self, args=None, namespace=None):
        return self.parse_intermixed_args(args, namespace)

    def error(self, message: str) -> NoReturn:
        _fail(self.prog, f"{message} (see --help)")


class _Formatter(argparse.HelpFormatter):
    """Wraps the paragraphs of an epilog to fit the terminal, except for indented lines."""

    def _fill_text(self, text: str, width: int, indent: str) -> str:
        def fitted(paragraph: str) -> str:
            return paragraph if "\n  " in f"\n{paragraph}" else textwrap.fill(paragraph, width)

        return "\n\n".join(fitted(paragraph) for paragraph in text.rstrip().split("\n\n"))


def make_parser(name: str, description: str | None, epilog: str = "") -> argparse.ArgumentParser:
    """A parser for `python -m tinyvit.NAME`, with the summary of the module's docstring as description."""
    return _Parser(
        prog=f"tinyvit.{name}",
        description=summary(description),
        epilog=epilog,
        formatter_class=_Formatter,
        allow_abbrev=False,
    )


def summary(docstring: str | None) -> str:
    """What follows "`python -m tinyvit.NAME`: " in the first line of a docstring, as a sentence."""
    line = (docstring or "").strip().partition("\n")[0]
    line = _CALL.sub("", line)
    return line[:1].upper() + line[1:]


# Types for argparse: each turns the text of a flag into a number, or says what was expected.


def positive_int(text: str) -> int:
    """A whole number of at least 1."""
    return _checked(text, int, lambda value: value >= 1, "a whole number of at least 1")


def png_path(text: str) -> Path:
    """A path that ends in .png."""
    if not text.lower().endswith(".png"):
        raise argparse.ArgumentTypeError(f"{text!r} does not end in .png")
    return Path(text)


def natural_int(text: str) -> int:
    """A whole number of at least 0."""
    return _checked(text, int, lambda value: value >= 0, "a whole number of at least 0")


def thread_count(text: str) -> int:
    """A whole number from 1 to MOST_THREADS."""
    expected = f"a whole number from 1 to {MOST_THREADS}"
    return _checked(text, int, lambda value: 1 <= value <= MOST_THREADS, expected)


def positive_float(text: str) -> float:
    """A finite number above 0."""
    return _checked(text, float, lambda value: 0 < value < math.inf, "a number above 0")


def natural_float(text: str) -> float:
    """A finite number of at least 0."""
    return _checked(text, float, lambda value: 0 <= value < math.inf, "a number of at least 0")


def rate(text: str) -> float:
    """A number in [0, 1)."""
    return _checked(text, float, lambda value: 0 <= value < 1, "a number of at least 0 and below 1")


def up_to(most: float) -> Callable[[str], float]:
    """A number in [0, most]."""
    return lambda text: _checked(
        text, float, lambda value: 0 <= value <= most, f"a number from 0 to {most:g}"
    )


def fraction(text: str) -> float:
    """A number in (0, 1]."""
    return _checked(text, float, lambda value: 0 < value <= 1, "a number above 0 and at most 1")


def _checked(text: str, convert: type, fits: Callable[[float], bool], expected: str):
    try:
        value = convert(text)
    except ValueError:
        value = None
    if value is None or not fits(value):  # NaN never fits
        raise argparse.ArgumentTypeError(f"{text!r} is not {expected}")
    return value
