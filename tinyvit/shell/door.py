"""What every command-line door shares: how it is opened, and how it ends."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Callable

from tinyvit.errors import UserError


def open_door(parser: argparse.ArgumentParser, main: Callable[[argparse.Namespace], int | None]) -> None:
    """Parse the command line, call main with it, and leave with its exit status (None: 0).

    A user's mistake ends in one line and status 2, Ctrl-C in status 130, a closed pipe quietly.
    """
    try:
        sys.exit(main(parser.parse_args()) or 0)
    except UserError as error:
        sys.stdout.flush()
        print(f"{parser.prog}: error: {error}", file=sys.stderr)
        sys.exit(2)
    except OSError as error:
        if isinstance(error, BrokenPipeError):  # the reader, head or a pager, has seen enough
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
            sys.exit(0)
        print(f"{parser.prog}: error: {error.strerror or error}: {error.filename}", file=sys.stderr)
        sys.exit(2)
    except KeyboardInterrupt:
        print(f"\n{parser.prog}: interrupted", file=sys.stderr)
        sys.exit(130)


def make_parser(door: str, description: str, epilog: str = "") -> argparse.ArgumentParser:
    """A parser for `python -m tinyvit.DOOR`."""
    return argparse.ArgumentParser(
        prog=f"tinyvit.{door}",
        description=description,
        epilog=epilog,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )


def positive_int(text: str) -> int:
    """An argparse type: an integer of 1 or more."""
    value = int(text)
    if value < 1:
        raise argparse.ArgumentTypeError(f"{value} is not 1 or more")
    return value


def positive_float(text: str) -> float:
    """An argparse type: a finite number above 0."""
    value = float(text)
    if not 0 < value < float("inf"):
        raise argparse.ArgumentTypeError(f"{text} is not a number above 0")
    return value


def rate(text: str) -> float:
    """An argparse type: a number in [0, 1)."""
    value = float(text)
    if not 0 <= value < 1:
        raise argparse.ArgumentTypeError(f"{text} is not in [0, 1)")
    return value
