"""What a person sees while training: one line that moves, and one line that stays for each epoch.

    tinyvit · shapes · vit-nano/4, 118,410 parameters · NumPy on 2 threads · run runs/shapes-1
    epoch  2/12  loss 1.034   test 71.2%   best 71.2% *     812 img/s     0:41
    epoch  3/12  ━━━━━━━━━━━━━━╸─────────  27/40   loss 0.812   812 img/s   0:41 left

The moving line gives up its least important parts until it fits the terminal, so that it never wraps. In a
file or a pipe there is no moving line, only a plain one now and then; where the encoding has no signs for the
bar, they are ASCII.
"""

from __future__ import annotations

import math
import os
import re
import shutil
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from typing import TextIO

REDRAW_SECONDS = 0.1  # between two states of the moving line
PLAIN_SECONDS = 30.0  # between two plain lines where no line can move
SHORTEST_BAR, LONGEST_BAR = 8, 28  # in columns

# Each moment's line, from the most telling to the shortest: the first that fits the terminal is shown.
STEP_LAYOUTS = (
    "{epoch}  {bar}  {count}   {loss}   {rate}   {left}",
    "{epoch}  {bar}  {count}   {loss}   {left}",
    "{epoch}  {bar}   {loss}   {left}",
    "{epoch}  {count}   {loss}   {left}",
    "{epoch}   {loss}   {left}",
    "{epoch}   {loss}",
)
EPOCH_LAYOUTS = (
    "{epoch}  {loss}   {accuracy}   {best} {rate}  {took}",
    "{epoch}  {loss}   {accuracy}   {best} {took}",
    "{epoch}  {loss}   {accuracy}   {best}",
    "{epoch}  {loss}   {accuracy}",
)
DOWNLOAD_LAYOUTS = (
    "{name}  {bar}  {size}   {speed}   {left}",
    "{name}  {bar}  {size}   {left}",
    "{name}  {size}   {left}",
    "{name}  {size}",
    "{size}",
)
COUNT_LAYOUTS = ("{name}  {bar}  {count}   {left}", "{name}  {count}   {left}", "{name}  {count}", "{count}")
ENDLESS_LAYOUTS = ("{name}  {size}   {speed}", "{name}  {size}", "{size}")  # a download of unknown length

_STYLES = {"bold": "\x1b[1m", "dim": "\x1b[2m", "cyan": "\x1b[36m", "green": "\x1b[32m"}
_RESET = "\x1b[0m"
_ESCAPE_CODE = re.compile(r"\x1b\[\d*m")


class Progress:
    """Prints what a training run is doing to a stream: standard output if none is given.

    clock returns seconds, and is there for tests. An error while printing (a full disk, a closed file) is
    ignored, for training matters more; only BrokenPipeError is raised, since nobody reads on.
    """

    def __init__(self, stream: TextIO | None = None, clock: Callable[[], float] = time.monotonic):
        self._stream = sys.stdout if stream is None else stream
        self._clock = clock
        self._encoding = getattr(self._stream, "encoding", None) or "utf-8"
        self._terminal = self._stream.isatty()
        self._colour = self._terminal and _colour_wanted()
        unicode = _can_encode("━╸─·", self._encoding)
        self._bar_signs = "━╸─" if unicode else "=>-"
        self._separator = "·" if unicode else "-"
        self._moving = ""  # the moving line that is on the screen, with its colours
        self._printed_at = clock()

    def header(self, *parts: str) -> None:
        """The opening line: tinyvit, then what is trained, on what, and where it is written."""
        separator = self._paint(f" {self._separator} ", "dim")
        self._stay(separator.join([self._paint("tinyvit", "bold"), *parts]))

    def step(
        self,
        epoch: int,
        epochs: int,
        done: int,
        total: int,
        loss: float,
        rate: float,
        seconds_left: float | None,
    ) -> None:
        """Show step done of total in an epoch; rate in images per second, seconds_left None while unknown."""
        if not self._due(last=done >= total):
            return
        fields = {
            "epoch": self._epoch_field(epoch, epochs),
            "count": f"{done:>{len(str(total))}}/{total}",
            "loss": self._labelled("loss", figure(loss)),
            "rate": img_per_second(rate),
            "left": f"{duration(seconds_left)} {self._paint('left', 'dim')}",
        }
        self._move(STEP_LAYOUTS, fields, done / total)

    def epoch(
        self,
        epoch: int,
        epochs: int,
        loss: float,
        accuracy: float | None,
        best: float | None,
        rate: float | None,
        seconds: float,
        label: str = "test",
    ) -> None:
        """The line that stays for an epoch, with a star if it is the best so far.

        accuracy and best (this epoch included) are in 0..1, None if not measured; label names the images they
        were measured on; rate is in images per second, seconds what the epoch took.
        """
        is_best = accuracy is not None and accuracy == best
        fields = {
            "epoch": self._epoch_field(epoch, epochs),
            "loss": self._labelled("loss", figure(loss)),
            "accuracy": self._labelled(label, self._paint(percent(accuracy), "green" if is_best else "bold")),
            "best": self._labelled("best", percent(best)) + (self._paint(" *", "green") if is_best else "  "),
            "rate": self._paint(f"{img_per_second(rate):>13}", "dim"),  # 13 holds 123,456 img/s
            "took": self._paint(f"{duration(seconds):>7}", "dim"),  # 7 holds 1:02:09
        }
        self._stay(self._fit(EPOCH_LAYOUTS, fields))

    def note(self, text: str) -> None:
        """Print a line above the moving line."""
        moving = self._moving
        self._stay(text)
        if moving:
            self._draw(moving)

    def close(self) -> None:
        """Leave the moving line as it is and the cursor on a fresh one."""
        if self._moving:
            self._write("\n")
            self._moving = ""

    def clear(self) -> None:
        """Erase the moving line: something else is about to be printed where it is."""
        if self._moving:
            self._write(self._erasure())
            self._moving = ""

    def counting(self, name: str) -> Callable[[int, int], None]:
        """Start to count something, such as images: returns report(done, total).

        The report of the last one erases the moving line.
        """
        start = self._clock()

        def report(done: int, total: int) -> None:
            if done >= total:
                self.clear()
            elif self._due():
                seconds_left = (self._clock() - start) * (total - done) / done if done else None
                fields = {
                    "name": self._paint(name, "bold"),
                    "count": f"{done:>{len(f'{total:,}')},}/{total:,}",
                    "left": f"{duration(seconds_left)} {self._paint('left', 'dim')}",
                }
                self._move(COUNT_LAYOUTS, fields, done / total)

        return report

    def download(self, name: str) -> Callable[[int, int | None], None]:
        """Start to show a download: returns report(done, total), in bytes, total None if it is not known.

        The report of the last byte leaves a line with the size and the time it took.
        """
        start = self._clock()

        def report(done: int, total: int | None = None) -> None:
            seconds = self._clock() - start
            speed = done / seconds if seconds > 0 else 0.0
            fields = {"name": self._paint(name, "bold"), "speed": f"{speed / 1e6:.1f} MB/s"}
            if total and done >= total:
                self._stay(
                    f"{fields['name']}  {total / 1e6:.1f} MB in {duration(seconds)}   {fields['speed']}"
                )
            elif not self._due():
                return
            elif total:
                whole = f"{total / 1e6:.1f}"
                fields["size"] = f"{done / 1e6:>{len(whole)}.1f}/{whole} MB"
                seconds_left = (total - done) / speed if speed else None
                fields["left"] = f"{duration(seconds_left)} {self._paint('left', 'dim')}"
                self._move(DOWNLOAD_LAYOUTS, fields, done / total)
            else:
                self._move(ENDLESS_LAYOUTS, fields | {"size": f"{done / 1e6:.1f} MB"})

        return report

    # Fields.

    def _epoch_field(self, epoch: int, epochs: int) -> str:
        return f"{self._paint('epoch', 'dim')} {epoch:>{len(str(epochs))}}/{epochs}"

    def _labelled(self, label: str, text: str) -> str:
        return f"{self._paint(label, 'dim')} {text}"

    def _paint(self, text: str, style: str) -> str:
        return f"{_STYLES[style]}{text}{_RESET}" if self._colour else text

    def _bar(self, share: float, width: int) -> str:
        """A bar of width columns, filled to share (0..1), in steps of half a column."""
        full, half, rest = self._bar_signs
        halves = int(2 * width * min(share, 1.0))
        filled = full * (halves // 2) + half * (halves % 2)
        return self._paint(filled, "cyan") + self._paint(rest * (width - len(filled)), "dim")

    # Lines.

    def _fit(self, layouts: Sequence[str], fields: Mapping[str, str], share: float = 0.0) -> str:
        """The first layout that fits the terminal, filled in; off a terminal the longest, without its bar."""
        if not self._terminal:
            return layouts[0].replace("{bar}  ", "").format(**fields)
        width = _terminal_width()
        for layout in layouts:
            room = width - _columns(layout.format(bar="", **fields))
            if room >= (SHORTEST_BAR if "{bar}" in layout else 0):
                return layout.format(bar=self._bar(share, min(room, LONGEST_BAR)), **fields)
        return _ESCAPE_CODE.sub("", layouts[-1].format(**fields))[:width]

    def _due(self, last: bool = False) -> bool:
        """Whether it is time to show a new state; on a terminal the last one always is."""
        if self._terminal and last:
            return True
        return self._clock() - self._printed_at >= (REDRAW_SECONDS if self._terminal else PLAIN_SECONDS)

    def _move(self, layouts: Sequence[str], fields: Mapping[str, str], share: float = 0.0) -> None:
        line = self._fit(layouts, fields, share)
        if self._terminal:
            self._draw(line)
        else:
            self._stay(line)

    def _draw(self, line: str) -> None:
        """Put a line in the place of the moving one; spaces cover what sticks out of the old one."""
        left_over = min(_columns(self._moving), _terminal_width()) - _columns(line)
        self._write("\r" + line + " " * left_over)
        self._moving = line

    def _stay(self, line: str) -> None:
        """Clear the moving line and print one that stays."""
        erasure = self._erasure() if self._moving else ""
        self._moving = ""
        self._write(erasure + line.rstrip() + "\n")

    def _erasure(self) -> str:
        """What erases the moving line and leaves the cursor at its start."""
        return "\r" + " " * min(_columns(self._moving), _terminal_width()) + "\r"

    def _write(self, text: str) -> None:
        self._printed_at = self._clock()
        try:
            self._stream.write(text.encode(self._encoding, "replace").decode(self._encoding))
            self._stream.flush()
        except BrokenPipeError:
            raise
        except (OSError, ValueError):  # ValueError: the stream is closed
            pass


def duration(seconds: float | None) -> str:
    """0:41, 12:05 or 1:02:09; -:-- for None, NaN and infinity."""
    if seconds is None or not math.isfinite(seconds):
        return "-:--"
    minutes, seconds = divmod(max(0, round(seconds)), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{seconds:02}" if hours else f"{minutes}:{seconds:02}"


def img_per_second(rate: float | None) -> str:
    """9.4 img/s, 812 img/s or 12,345 img/s; - where nothing was measured."""
    if rate is None:
        return "- img/s"
    return f"{rate:.1f} img/s" if rate < 9.95 else f"{rate:,.0f} img/s"


def figure(value: float) -> str:
    """A number in five columns, with as many digits as they hold: 0.812, 12.3, 1e+07, nan."""
    for form in (".3f", ".1f", ".0f", ".0e"):
        text = f"{value:{form}}"
        if len(text) <= 5:
            break
    return f"{text:>5}"


def percent(share: float | None) -> str:
    """A share of 1 in five columns: 71.2%, 100%, or - for None."""
    text = "-" if share is None else f"{100 * share:.1f}%".replace("100.0", "100")
    return f"{text:>5}"


def _columns(line: str) -> int:
    """How many columns a line takes on the screen."""
    return len(_ESCAPE_CODE.sub("", line))


def _terminal_width() -> int:
    """Columns that can be written: all but the last, after which some terminals start a new row at once."""
    return shutil.get_terminal_size().columns - 1


def _can_encode(text: str, encoding: str) -> bool:
    try:
        text.encode(encoding)
    except UnicodeEncodeError:
        return False
    return True


def _colour_wanted() -> bool:
    """Whether a terminal should get colours (no-color.org); switches them on where Windows has them off."""
    if os.environ.get("NO_COLOR") or os.environ.get("TERM") == "dumb":
        return False
    if os.name == "nt":
        os.system("")  # a console that has run a command understands escape codes from then on
    return True
