"""What things are worth, each beside one thing and beside another: differences, around a line at 0."""

import os
from collections.abc import Sequence
from dataclasses import dataclass

from tinyvit.pictures.axes import Axes, legend_width, nice_ticks
from tinyvit.pictures.colours import GRID, INK, QUIET, SERIES, tint
from tinyvit.pictures.sheet import Sheet
from tinyvit.pictures.text import cut, text_width

WIDTH = 900  # of the picture, in pixels
TOP, ROW, BOTTOM = 122, 46, 64  # above the first row, a row, below the last
_APART = 9  # half the distance of the two marks of a row


@dataclass(frozen=True)
class Difference:
    """What `name` gains, in points, beside `beside`; by_seed are the single gains, error a standard error."""

    name: str
    beside: str
    gain: float
    by_seed: Sequence[float] = ()
    error: float | None = None


def draw_worth(title: str, subtitle: str, found: Sequence[Difference], path: str | os.PathLike[str]) -> None:
    """Draw a row for each name to a PNG, with a mark for each thing it is beside.

    A mark is at the gain, pale dots at the gains of single seeds, and a line reaches two standard errors to
    either side. Raises ValueError if nothing was found, UserError if the picture cannot be written.
    """
    if not found:
        raise ValueError("no differences to draw: expected at least one")
    names = list(dict.fromkeys(one.name for one in found))
    places = list(dict.fromkeys(one.beside for one in found))
    left = 40 + max(text_width(name, 16) for name in names) + 24
    right, bottom = WIDTH - 40, TOP + ROW * len(names)
    sheet = Sheet(WIDTH, bottom + BOTTOM)
    sheet.text(40, 32, cut(title, WIDTH - 80, 20), 20, INK, "lm")
    sheet.text(40, 60, cut(subtitle, WIDTH - 80, 14), 14, QUIET, "lm")
    ends = [end for one in found for end in (0.0, *_reach(one))]
    pad = max(0.2, 0.05 * (max(ends) - min(ends)))
    ticks = nice_ticks(min(ends) - pad, max(ends) + pad)
    axes = Axes(sheet, (left, TOP, right, bottom), (ticks[0], ticks[-1]), (0, 1))
    axes.x_ticks(ticks, [f"{tick:+g}" if tick else "0" for tick in ticks], size=13, grid=True)
    sheet.text(right, bottom + 42, "points of test accuracy gained", 13, QUIET, "rm")
    zero, _ = axes.place(0, 0)
    sheet.line([(zero, TOP), (zero, bottom)], INK, 1.5)
    for i, name in enumerate(names):
        middle = TOP + ROW * (i + 0.5)
        if i:
            sheet.line([(40, TOP + ROW * i), (right, TOP + ROW * i)], GRID, 1)
        sheet.text(left - 12, middle, name, 16, INK, "rm")
        for one in (one for one in found if one.name == name):
            number = places.index(one.beside)
            row = middle + _APART * (2 * number - len(places) + 1)
            _draw(axes, one, row, SERIES[number % len(SERIES)])
    _legend(sheet, places)
    sheet.save(path)


def _draw(axes: Axes, one: Difference, row: float, colour: str) -> None:
    if one.error is not None:
        ends = (one.gain - 2 * one.error, one.gain + 2 * one.error)
        axes.sheet.line([(axes.place(end, 0)[0], row) for end in ends], tint(colour, 0.7), 2)
    for gain in one.by_seed if len(one.by_seed) > 1 else ():
        axes.sheet.dot((axes.place(gain, 0)[0], row), 3, tint(colour, 0.55))
    axes.sheet.dot((axes.place(one.gain, 0)[0], row), 5, colour)


def _reach(one: Difference) -> tuple[float, float]:
    """The lowest and the highest value that is drawn of a difference."""
    error = 2 * one.error if one.error is not None else 0.0
    values = (*one.by_seed, one.gain - error, one.gain + error)
    return min(values), max(values)


def _legend(sheet: Sheet, places: Sequence[str]) -> None:
    x = 46.0
    for i, place in enumerate(places):
        label = f"in the {place}"
        sheet.dot((x, 92), 5, SERIES[i % len(SERIES)])
        sheet.text(x + 12, 92, label, 15, INK, "lm")
        x += legend_width(label, 15)
