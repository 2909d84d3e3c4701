"""What every command shares: how its line is parsed, and how it ends."""

from __future__ import annotations

import argparse
import contextlib
import math
import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import NoReturn

from tinyvit.errors import UserError

MOST_THREADS = 256


def run_command(
    parser: argparse.ArgumentParser, main: Callable[[argparse.Namespace], int | None]
) -> NoReturn:
    """Parse the command line, call main with it, and leave with its exit status (None: 0).

    A user's mistake ends in one line and status 2, Ctrl-C in status 130, a closed pipe quietly.
    """
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="replace")  # a name that the terminal cannot show is no reason to stop
    try:
        status = main(parser.parse_args()) or 0
        sys.stdout.flush()
        sys.exit(status)
    except BrokenPipeError:  # the reader, head or a pager, has seen enough
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(0)
    except UserError as error:
        _fail(parser, str(error))
    except OSError as error:
        _fail(parser, ": ".join(str(part) for part in (error.filename, error.strerror or error) if part))
    except MemoryError as error:
        _fail(parser, f"not enough memory: {error}. Try a smaller --batch-size, --resolution or model.")
    except KeyboardInterrupt:
        print(f"\n{parser.prog}: interrupted", file=sys.stderr)
        sys.exit(130)


def _fail(parser: argparse.ArgumentParser, message: str) -> NoReturn:
    with contextlib.suppress(OSError):  # nobody reads on
        sys.stdout.flush()
    parser.exit(2, f"{parser.prog}: error: {' '.join(message.splitlines())}\n")


class _Parser(argparse.ArgumentParser):
    """A parser whose errors are one line, like all others; flags may stand anywhere among the words."""

    def parse_args(self, args=None, namespace=None):
        return self.parse_intermixed_args(args, namespace)

    def error(self, message: str) -> NoReturn:
        _fail(self, f"{message} (see python -m {self.prog} --help)")


def make_parser(name: str, description: str, epilog: str = "") -> argparse.ArgumentParser:
    """A parser for `python -m tinyvit.NAME`."""
    return _Parser(
        prog=f"tinyvit.{name}",
        description=description,
        epilog=epilog,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )


# Types for argparse: each turns the text of a flag into a number, or says what was expected.


def positive_int(text: str) -> int:
    """A whole number of 1 or more."""
    return _checked(text, int, lambda value: value >= 1, "a whole number, 1 or more")


def png_path(text: str) -> Path:
    """A path that ends in .png."""
    if not text.lower().endswith(".png"):
        raise argparse.ArgumentTypeError(f"{text!r} does not end in .png")
    return Path(text)


def natural_int(text: str) -> int:
    """A whole number of 0 or more."""
    return _checked(text, int, lambda value: value >= 0, "a whole number, 0 or more")


def thread_count(text: str) -> int:
    """A whole number from 1 to MOST_THREADS."""
    expected = f"a whole number from 1 to {MOST_THREADS}"
    return _checked(text, int, lambda value: 1 <= value <= MOST_THREADS, expected)


def positive_float(text: str) -> float:
    """A finite number above 0."""
    return _checked(text, float, lambda value: 0 < value < math.inf, "a number above 0")


def natural_float(text: str) -> float:
    """A finite number of 0 or more."""
    return _checked(text, float, lambda value: 0 <= value < math.inf, "a number, 0 or more")


def rate(text: str) -> float:
    """A number in [0, 1)."""
    return _checked(text, float, lambda value: 0 <= value < 1, "a number from 0 to below 1")


def _checked(text: str, convert: type, fits: Callable[[float], bool], expected: str):
    try:
        value = convert(text)
    except ValueError:
        value = None
    if value is None or not fits(value):  # NaN fits nowhere
        raise argparse.ArgumentTypeError(f"{text!r} is not {expected}")
    return value
