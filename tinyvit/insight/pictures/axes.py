"""Plots: the positions of values on a sheet, round numbers along the axes, labels that do not overlap."""

import math
from collections.abc import Callable, Iterable, Sequence
from itertools import pairwise

from tinyvit.insight.pictures.colours import AXIS, GRID, INK, QUIET
from tinyvit.insight.pictures.sheet import Box, Point, Sheet, text_width


class Axes:
    """A frame on a sheet in which points are specified by their values.

    box is (left, top, right, bottom) in points; x_range and y_range are the values (low, high) at its ends.
    logarithmic names the logarithmic axes: '', 'x', 'y' or 'xy'.
    """

    def __init__(self, sheet: Sheet, box: Box, x_range: Point, y_range: Point, logarithmic: str = ""):
        self.sheet, self.box, self.x_range, self.y_range = sheet, box, x_range, y_range
        self._along_x = math.log if "x" in logarithmic else float
        self._along_y = math.log if "y" in logarithmic else float

    def place(self, x: float, y: float) -> Point:
        """The point on the sheet for a value."""
        left, top, right, bottom = self.box
        across, up = _share(x, self.x_range, self._along_x), _share(y, self.y_range, self._along_y)
        return left + across * (right - left), bottom - up * (bottom - top)

    def curve(
        self, xs: Iterable[float], ys: Iterable[float], colour: str, width: float = 2, dashed: bool = False
    ) -> None:
        """A line through the values."""
        draw = self.sheet.dashes if dashed else self.sheet.line
        draw([self.place(x, y) for x, y in zip(xs, ys, strict=True)], colour, width)

    def text(self, x: float, y: float, text: str, colour: str, size: float = 13, anchor: str = "lm") -> None:
        """Text at a value."""
        self.sheet.text(*self.place(x, y), text, size, colour, anchor)

    def frame(self, colour: str = QUIET) -> None:
        """The two axes themselves, at the left and at the bottom."""
        left, top, right, bottom = self.box
        self.sheet.line([(left, top), (left, bottom), (right, bottom)], colour, 1)

    def x_ticks(
        self,
        ticks: Sequence[float],
        labels: Sequence[str] | None = None,
        size: float = 11,
        grid: bool = False,
    ) -> None:
        """A mark, or a line across the frame, and a number below it, at each tick."""
        _, top, _, bottom = self.box
        for x, label in zip(ticks, labels or tick_labels(ticks), strict=True):
            across, _ = self.place(x, self.y_range[0])
            if grid:
                self.sheet.line([(across, top), (across, bottom)], GRID, 1)
            else:
                self.sheet.line([(across, bottom), (across, bottom + 4)], AXIS, 1)
            self.sheet.text(across, bottom + 9 + size / 2, label, size, QUIET)

    def y_ticks(
        self, ticks: Sequence[float], labels: Sequence[str] | None = None, size: float = 11, grid: bool = True
    ) -> None:
        """A line across the frame, or a mark, and a number left of it, at each tick."""
        left, _, right, _ = self.box
        for y, label in zip(ticks, labels or tick_labels(ticks), strict=True):
            _, down = self.place(self.x_range[0], y)
            if grid:
                self.sheet.line([(left, down), (right, down)], GRID, 1)
            else:
                self.sheet.line([(left - 4, down), (left, down)], AXIS, 1)
            self.sheet.text(left - 8, down, label, size, QUIET, "rm")

    def x_name(self, name: str, size: float = 12) -> None:
        """The name of the x axis, centred below the frame."""
        left, _, right, bottom = self.box
        self.sheet.text((left + right) / 2, bottom + 34, name, size, INK)

    def y_name(self, name: str, size: float = 12) -> None:
        """The name of the y axis, above the frame."""
        self.sheet.text(self.box[0], self.box[1] - 14, name, size, INK, "lm")

    def label_ends(
        self, ends: Sequence[tuple[float, float, str, str]], size: float = 12, beside: float = 8
    ) -> None:
        """Labels right of the last values (x, y, label, colour) of curves, at least a line apart."""
        points = [self.place(x, y) for x, y, _, _ in ends]
        rows = kept_apart([row for _, row in points], 1.25 * size, self.box[1], self.box[3])
        for (across, _), row, (_, _, label, colour) in zip(points, rows, ends, strict=True):
            self.sheet.text(across + beside, row, label, size, colour, "lm")


def _share(value: float, ends: Point, along: Callable[[float], float]) -> float:
    """The relative position of a value between two ends, 0 to 1."""
    low, high = along(ends[0]), along(ends[1])
    return (along(value) - low) / (high - low)


def nice_ticks(low: float, high: float, most: int = 6) -> list[float]:
    """At most `most` + 1 multiples of 1, 2 or 5 times a power of ten that enclose low < high."""
    raw = (high - low) / (most - 1)
    power = 10.0 ** math.floor(math.log10(raw))
    step = next(power * nice for nice in (1, 2, 5, 10) if power * nice >= raw * (1 - 1e-9))
    first, last = math.floor(low / step + 1e-9), math.ceil(high / step - 1e-9)
    return [i * step for i in range(first, last + 1)]


def tick_labels(ticks: Sequence[float]) -> list[str]:
    """The ticks' values, with enough digits to distinguish neighbours."""
    step = min((b - a for a, b in pairwise(ticks)), default=1.0)
    if max(map(abs, ticks)) >= 1e6 or step < 0.99e-5:
        return [f"{tick:.3g}" for tick in ticks]
    digits = max(0, -math.floor(math.log10(step) + 1e-9))
    return [f"{tick:,.{digits}f}" for tick in ticks]


def whole_ticks(low: float, high: float, most: int = 8) -> list[float]:
    """Round whole numbers from low to high, for an axis that counts."""
    return [x for x in nice_ticks(low, high, most) if low <= x <= high and abs(x - round(x)) < 1e-9]


def kept_apart(rows: Sequence[float], gap: float, low: float, high: float) -> list[float]:
    """The rows, moved as little as necessary to be at least gap apart, in the same order, from low to high.

    If there are too many for that, the last is at high and the first is above low.
    """
    order = sorted(range(len(rows)), key=rows.__getitem__)
    placed, lowest = [0.0] * len(rows), -math.inf
    for i in order:
        placed[i] = lowest = max(rows[i], lowest + gap, low)
    highest = high
    for i in reversed(order):
        placed[i] = min(placed[i], highest)
        highest = placed[i] - gap
    return placed


def legend_rows(names: Sequence[str], width: float, size: float) -> list[list[int]]:
    """The names (by index) in each row of a legend that is at most width points wide."""
    rows: list[list[int]] = [[]]
    used = 0.0
    for i, name in enumerate(names):
        needed = legend_width(name, size)
        if rows[-1] and used + needed > width:
            rows.append([])
            used = 0.0
        rows[-1].append(i)
        used += needed
    return rows


def legend_width(name: str, size: float) -> float:
    """The width of an entry in a legend: its mark, its name, and the space after it."""
    return 12 + text_width(name, size) + 1.5 * size


def draw_legend(
    sheet: Sheet, at: Point, names: Sequence[str], colours: Sequence[str], size: float, radius: float = 5
) -> Point:
    """Draw names beside dots of their colours, the first at a point; returns the point for the next one."""
    left, row = at
    for name, colour in zip(names, colours, strict=True):
        sheet.dot((left, row), radius, colour)
        sheet.text(left + 12, row, name, size, INK, "lm")
        left += legend_width(name, size)
    return left, row
