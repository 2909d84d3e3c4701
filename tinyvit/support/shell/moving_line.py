"""One line at the bottom of a terminal that is updated in place, and permanent lines above it.

The moving line gives up its least important parts until it fits the terminal, so that it never wraps. In a
file or a pipe there is no moving line, only a plain one now and then; where the encoding has no characters
for the bar, it is drawn in ASCII.
"""

from __future__ import annotations

import os
import re
import shutil
import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any, ClassVar, TextIO

REDRAW_SECONDS = 0.1  # between updates of the moving line
PLAIN_SECONDS = 30.0  # between plain lines where lines cannot be updated in place
SHORTEST_BAR, LONGEST_BAR = 8, 28  # in columns

_STYLES = {"bold": "\x1b[1m", "dim": "\x1b[2m", "cyan": "\x1b[36m", "green": "\x1b[32m"}
_RESET = "\x1b[0m"
_ESCAPE_CODE = re.compile(r"\x1b\[\d*m")


class MovingLine:
    """The bottom line of a stream, and what is printed above it.

    clock returns seconds. An error while printing (a full disk, a closed file) is ignored, since the work
    matters more than the report; only BrokenPipeError is raised, since there is no reader any more.
    """

    shown: ClassVar[MovingLine | None] = None  # the one that is unfinished on the screen

    def __init__(self, stream: TextIO, clock: Callable[[], float] = time.monotonic):
        self._stream = stream
        self._clock = clock
        self._encoding = getattr(stream, "encoding", None) or "utf-8"
        self._terminal = is_watched(stream)
        self._colour = self._terminal and colour_wanted()
        unicode = _can_encode("━╸─·", self._encoding)
        self._bar_characters = ("━", "╸", "─") if unicode else ("=", ">", "-")
        self.separator = "·" if unicode else "-"
        self._on_screen = ""  # the moving line currently shown, with its colours
        self._printed_at = clock()

    def paint(self, text: str, style: str) -> str:
        """The text in bold, dim, cyan or green, where the stream shows colours."""
        return f"{_STYLES[style]}{text}{_RESET}" if self._colour else text

    def is_due(self, last: bool = False) -> bool:
        """True if it is time to show a new state; on a terminal, the last one is always shown."""
        if self._terminal and last:
            return True
        return self._clock() - self._printed_at >= (REDRAW_SECONDS if self._terminal else PLAIN_SECONDS)

    def fit(self, layouts: Sequence[str], fields: Mapping[str, str], share: float = 0.0) -> str:
        """The first layout that fits the terminal, with {bar} filled to share (0..1); elsewhere the first."""
        if not self._terminal:
            return layouts[0].replace("{bar}  ", "").format(**fields)
        width = _terminal_width()
        for layout in layouts:
            room = width - _columns(layout.format(bar="", **fields))
            if room >= (SHORTEST_BAR if "{bar}" in layout else 0):
                return layout.format(bar=self._bar(share, min(room, LONGEST_BAR)), **fields)
        return _ESCAPE_CODE.sub("", layouts[-1].format(**fields))[:width]

    def move(self, line: str) -> None:
        """Show a new state of the moving line, or a plain line where lines cannot be updated in place."""
        if not self._terminal:
            self.stay(line)
            return
        left_over = min(_columns(self._on_screen), _terminal_width()) - _columns(line)
        self._write("\r" + line + " " * left_over)  # the spaces cover the rest of a longer old line
        self._on_screen = line
        MovingLine.shown = self

    def stay(self, line: str) -> None:
        """Print a permanent line in place of the moving one."""
        erasure = self._erasure()
        self._forget()
        self._write(erasure + line.rstrip() + "\n")

    def stay_above(self, line: str) -> None:
        """Print a permanent line above the moving one."""
        moving = self._on_screen
        self.stay(line)
        if moving:
            self.move(moving)

    def erase(self) -> None:
        """Erase the moving line, because something else is about to be printed there."""
        if self._on_screen:
            erasure = self._erasure()
            self._forget()
            self._write(erasure)

    def close(self) -> None:
        """Keep the moving line as it is and move the cursor to a new one."""
        if self._on_screen:
            self._forget()
            self._write("\n")

    def _erasure(self) -> str:
        """The text that erases the moving line and leaves the cursor at its start; empty if there is none."""
        covered = min(_columns(self._on_screen), _terminal_width())
        return "\r" + " " * covered + "\r" if covered else ""

    def _forget(self) -> None:
        self._on_screen = ""
        if MovingLine.shown is self:
            MovingLine.shown = None

    def _bar(self, share: float, width: int) -> str:
        """A bar of width columns, filled to share (0..1), in steps of half a column."""
        full, half, rest = self._bar_characters
        halves = int(2 * width * min(share, 1.0))
        filled = full * (halves // 2) + half * (halves % 2)
        return self.paint(filled, "cyan") + self.paint(rest * (width - len(filled)), "dim")

    def _write(self, text: str) -> None:
        self._printed_at = self._clock()
        try:
            self._stream.write(text.encode(self._encoding, "replace").decode(self._encoding))
            self._stream.flush()
        except BrokenPipeError:
            raise
        except (OSError, ValueError):  # ValueError: the stream is closed
            pass


def is_watched(stream: Any) -> bool:
    """True for a terminal, and for the output of a notebook, where a line can move too."""
    if type(stream).__module__.startswith("ipykernel."):
        return True  # though isatty() returns False
    try:
        return bool(stream.isatty())
    except (AttributeError, ValueError):  # there is none, as in a program without a console, or it is closed
        return False


def _columns(line: str) -> int:
    """Number of columns that a line takes on the screen."""
    return len(_ESCAPE_CODE.sub("", line))


def _terminal_width() -> int:
    """Number of columns that can be used: all but the last, which makes some terminals start a new row."""
    return shutil.get_terminal_size().columns - 1


def _can_encode(text: str, encoding: str) -> bool:
    try:
        text.encode(encoding)
    except UnicodeEncodeError:
        return False
    return True


def colour_wanted() -> bool:
    """True if a terminal should get colours (no-color.org); turns them on in Windows if they are off."""
    if os.environ.get("NO_COLOR") or os.environ.get("TERM") == "dumb":
        return False
    if os.name == "nt":
        os.system("")  # a console that has run a command understands escape codes afterwards
    return True
