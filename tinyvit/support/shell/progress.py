"""The progress of a command, as users see it: a line that is updated in place, and a line for each epoch.

    tinyvit · shapes · vit-nano/4, 118,410 parameters · NumPy on 2 threads · run runs/shapes-1
    epoch  2/12  loss 1.034   test 71.2%   best 71.2% *     812 img/s     0:41
    epoch  3/12  ━━━━━━━━━━━━━━╸─────────  27/40   loss 0.812   812 img/s   0:41 left

The content of the lines is here; their motion, and their fit to the terminal, in moving_line.py.
"""

from __future__ import annotations

import contextlib
import io
import sys
import time
from collections.abc import Callable
from typing import TextIO

from tinyvit.support.figures import duration, figure, img_per_second, percent
from tinyvit.support.shell.moving_line import MovingLine


def _shorter(layout: str, *parts: str) -> tuple[str, ...]:
    """The forms of a line, from the longest to the shortest: parts are left out one after another."""
    return layout, *(layout := layout.replace(part, "") for part in parts)


STEP_LAYOUTS = _shorter(
    "{epoch}  {bar}  {count}   {loss}   {rate}   {left}", "   {rate}", "  {bar}", "  {count}", "   {left}"
)
EPOCH_LAYOUTS = _shorter(
    "{epoch}  {loss}   {result}   {best} {rate}  {took}", "{rate}  ", " {took}", "   {best}"
)
UNJUDGED_LAYOUTS = _shorter("{epoch}  {loss}   {rate}  {took}", "{rate}  ", " {took}")
COUNT_LAYOUTS = _shorter("{name}  {bar}  {count}   {left}", "  {bar}", "   {left}", "{name}  ")
DOWNLOAD_LAYOUTS = ("{name}  {bar}  {count}   {speed}   {left}", *COUNT_LAYOUTS)
ENDLESS_LAYOUTS = _shorter("{name}  {count}   {speed}", "   {speed}", "{name}  ")  # of unknown length


class Progress:
    """Prints what a command is doing to a stream, standard output if none is given.

    clock returns seconds, and is a parameter for tests. Errors while printing are ignored, since the work
    matters more; only BrokenPipeError is raised, since there is no reader any more.
    """

    def __init__(self, stream: TextIO | None = None, clock: Callable[[], float] = time.monotonic):
        self._clock = clock
        self._line = MovingLine(sys.stdout if stream is None else stream, clock)

    @classmethod
    def silent(cls) -> Progress:
        """One that prints nothing, for a process that is not the one that speaks."""
        return cls(io.StringIO())

    def header(self, *parts: str) -> None:
        """The opening line: tinyvit, then what is trained, on what, and where it is written."""
        separator = self._paint(f" {self._line.separator} ", "dim")
        self._line.stay(separator.join([self._paint("tinyvit", "bold"), *parts]))

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
        if not self._line.is_due(last=done >= total):
            return
        fields = {
            "epoch": self._epoch_field(epoch, epochs),
            "count": f"{done:>{len(str(total))}}/{total}",
            "loss": self._labelled("loss", figure(loss)),
            "rate": img_per_second(rate),
            "left": self._left(seconds_left),
        }
        self._move(STEP_LAYOUTS, fields, done / total)

    def epoch(
        self,
        epoch: int,
        epochs: int,
        loss: float,
        result: float | None,
        best: float | None,
        rate: float | None,
        seconds: float,
        label: str = "test",
        by_loss: bool = False,
        is_best: bool = False,
    ) -> None:
        """Print the permanent line for an epoch, with a star if its model is the best so far, and was kept.

        result and best (this epoch included) are accuracies in 0..1 or, if by_loss, losses; None if not
        measured. label names the images they were measured on, and is empty if there are none; rate is in
        images per second, seconds what the epoch took.
        """
        layouts = EPOCH_LAYOUTS if label else UNJUDGED_LAYOUTS
        label, form = (f"{label} loss", figure) if by_loss else (label, percent)
        fields = {
            "epoch": self._epoch_field(epoch, epochs),
            "loss": self._labelled("loss", figure(loss)),
            "result": self._labelled(label, self._paint(form(result), "green" if is_best else "bold")),
            "best": self._labelled("best", form(best)) + (self._paint(" *", "green") if is_best else "  "),
            "rate": self._paint(f"{img_per_second(rate):>13}", "dim"),  # 13 holds 123,456 img/s
            "took": self._paint(f"{duration(seconds):>7}", "dim"),  # 7 holds 1:02:09
        }
        self._line.stay(self._line.fit(layouts, fields))

    def note(self, text: str) -> None:
        """Print a line above the moving line."""
        self._line.stay_above(text)

    def outcome(self, *lines: str) -> None:
        """Print what a run has come to, and what to do next."""
        for line in lines:
            self.note(line)

    def unread(self, *lines: str) -> None:
        """Print on standard error what should be known although the stream's reader has gone."""
        with contextlib.suppress(BrokenPipeError):  # its reader has gone too
            Progress(sys.stderr).outcome(*lines)

    def close(self) -> None:
        """Keep the moving line as it is and move the cursor to a new one."""
        self._line.close()

    def clear(self) -> None:
        """Erase the moving line, because something else is about to be printed there."""
        self._line.erase()

    def download(self, name: str) -> Callable[[int, int | None], None]:
        """Start showing a download: returns report(done, total), in bytes, with total None if unknown.

        The first report says what is there already. The report of the last byte leaves a line with the size
        and the time it took.
        """
        return self._counter(name, DOWNLOAD_LAYOUTS, lambda size: f"{size / 1e6:.1f}", "MB", _per_second)

    def count(self, name: str) -> Callable[[int, int | None], None]:
        """Start showing progress through a set of images: returns report(done, total), in images.

        The report of the last image leaves a line with their number and the time they took.
        """
        return self._counter(name, COUNT_LAYOUTS, lambda number: f"{number:,}", "images", img_per_second, 0)

    def _counter(
        self,
        name: str,
        layouts: tuple[str, ...],
        form: Callable[[int], str],
        unit: str,
        per_second: Callable[[float | None], str],
        first: int | None = None,
    ) -> Callable[[int, int | None], None]:
        """report(done, total) for amounts written by form; `first` were done before, or the first report."""
        start, title = self._clock(), self._paint(name, "bold")

        def report(done: int, total: int | None = None) -> None:
            nonlocal first
            first = done if first is None else min(first, done)  # fewer if a download has begun anew
            seconds = self._clock() - start
            speed = (done - first) / seconds if seconds > 0 else None
            if total and done >= total:
                amount = f"{form(total)} {unit} in {duration(seconds)}"
                self._line.stay(f"{title}  {amount}   {per_second(speed)}")
            elif self._line.is_due():
                whole = form(total) if total else ""
                fields = {
                    "name": title,
                    "count": f"{form(done):>{len(whole)}}{f'/{whole}' * bool(total)} {unit}",
                    "speed": per_second(speed),
                    "left": self._left((total - done) / speed if total and speed else None),
                }
                self._move(layouts if total else ENDLESS_LAYOUTS, fields, done / total if total else 0.0)

        return report

    def _move(self, layouts: tuple[str, ...], fields: dict[str, str], share: float = 0.0) -> None:
        self._line.move(self._line.fit(layouts, fields, share))

    # Parts of a line.

    def _epoch_field(self, epoch: int, epochs: int) -> str:
        return f"{self._paint('epoch', 'dim')} {epoch:>{len(str(epochs))}}/{epochs}"

    def _labelled(self, label: str, text: str) -> str:
        return f"{self._paint(label, 'dim')} {text}"

    def _left(self, seconds: float | None) -> str:
        return f"{duration(seconds)} {self._paint('left', 'dim')}"

    def _paint(self, text: str, style: str) -> str:
        return self._line.paint(text, style)


def _per_second(speed: float | None) -> str:
    """A speed in bytes a second."""
    speed = speed or 0.0
    return f"{speed / 1e6:.1f} MB/s" if speed >= 1e6 else f"{speed / 1e3:.0f} kB/s"
