"""Formatting for people: durations, rates, losses and percentages, names of files, and command lines."""

import math
import os
import shutil
import sys
from collections.abc import Sequence
from pathlib import Path
from shlex import quote


def counted(number: int, noun: str, plural: str = "") -> str:
    """A number of things, such as '1 image' or '1,234 images'; plural if it takes more than an s."""
    return f"{number:,} {noun if number == 1 else plural or noun + 's'}"


def duration(seconds: float | None) -> str:
    """0:41, 12:05 or 1:02:09; -:-- for None, NaN and infinity."""
    if seconds is None or not math.isfinite(seconds):
        return "-:--"
    minutes, seconds = divmod(max(0, round(seconds)), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{seconds:02}" if hours else f"{minutes}:{seconds:02}"


def img_per_second(rate: float | None) -> str:
    """9.4 img/s, 812 img/s or 12,345 img/s; - if nothing was measured."""
    if rate is None:
        return "- img/s"
    return f"{rate:.1f} img/s" if rate < 9.95 else f"{rate:,.0f} img/s"


def figure(value: float | None) -> str:
    """A number in five columns, with as many digits as fit: 0.812, 12.3, 1e+07, nan, or - for None."""
    if value is None:
        return f"{'-':>5}"
    for form in (".3f", ".1f", ".0f", ".0e"):
        text = f"{value:{form}}"
        if len(text) <= 5:
            break
    return f"{text:>5}"


def percent(share: float | None) -> str:
    """A share (0..1) as a percentage in five columns: 71.2%, 100%, or - for None."""
    text = "-" if share is None else f"{100 * share:.1f}%".replace("100.0", "100")
    return f"{text:>5}"


def call(command: str) -> str:
    """The words that run a command: as this program was run, by the installed script or through Python."""
    script = sys.argv[0]
    if Path(script).name not in ("tinyvit", "tinyvit.exe"):
        return f"python -m tinyvit.{command}"
    on_the_path = shutil.which("tinyvit")
    is_known = on_the_path is not None and os.path.abspath(on_the_path) == os.path.abspath(script)
    return f"{'tinyvit' if is_known else as_argument(script)} {command}"


def as_argument(path: Path | str) -> str:
    """A path as a word of a command line: quoted where necessary, and never taken for a flag."""
    text = str(path)
    return quote(f"./{text}" if text.startswith("-") else text)


def short_names(paths: Sequence[Path]) -> list[str]:
    """The end of each path, as short as possible while different from those of all other paths.

    a/1.png, b/1.png and b/2.png are called a/1.png, b/1.png and 2.png.
    """
    whole = [Path(os.path.abspath(path)) for path in paths]  # even '.' has a name
    return [_shortest(path, set(whole) - {path}) for path in whole]


def _shortest(path: Path, others: set[Path]) -> str:
    for count in range(1, len(path.parts)):
        if all(other.parts[-count:] != path.parts[-count:] for other in others):
            return os.path.join(*path.parts[-count:])
    return str(path)
