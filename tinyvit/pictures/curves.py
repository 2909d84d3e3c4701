"""The picture of a run: its training loss and its accuracy, drawn with Pillow alone.

Everything is drawn at three times its size and then shrunk, which smooths the lines.
"""

from __future__ import annotations

import math
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from PIL import Image, ImageDraw, ImageFont

from tinyvit.files.atomic import write_atomically
from tinyvit.shell.progress import duration, img_per_second

WIDTH, HEIGHT = 1200, 480  # of the picture, in pixels
SCALE = 3  # how much larger it is drawn
LONGEST_TITLE = 80  # in characters
MANY = 300  # points of a curve, from which on it is drawn thinner

PAPER, GRID, AXIS = "#ffffff", "#e9ecf1", "#b4bcc8"
INK, QUIET = "#1c2430", "#6b7686"
BLUE, GREEN, ORANGE = "#2f6fdb", "#14966b", "#e0821f"

Point = tuple[float, float]


@dataclass(frozen=True)
class Series:
    """One curve: points (x, y) in the units of the axes, and how to write its last value."""

    name: str
    points: list[Point]
    colour: str
    form: str


def draw_curves(
    records: Sequence[Mapping[str, Any]], path: str | os.PathLike[str], title: str, best_epoch=None
) -> None:
    """Draw a run's training loss and accuracy to a PNG at path, which is replaced in one go.

    records are the objects of metrics.jsonl, in order: train_loss, test_accuracy and val_accuracy (0..1)
    against epoch, or against step where several records share an epoch. A value that is missing, None or not
    finite is left out. Raises ValueError without records, UserError if the picture cannot be written.
    """
    if not records:
        raise ValueError("no records to draw: expected at least one")
    x_name = _x_name(records)
    xs = [float(record[x_name]) for record in records]
    loss = Series("training loss", _points(xs, records, "train_loss"), BLUE, "{:.3f}")
    accuracies = [
        Series("test", _points(xs, records, "test_accuracy", 100), GREEN, "{:.1f}%"),
        Series("validation", _points(xs, records, "val_accuracy", 100), ORANGE, "{:.1f}%"),
    ]
    image = Image.new("RGB", (WIDTH * SCALE, HEIGHT * SCALE), PAPER)
    draw = ImageDraw.Draw(image)
    short = title if len(title) <= LONGEST_TITLE else title[: LONGEST_TITLE - 1] + "…"
    _text(draw, (40, 34), short, 22, INK, "lm")
    _text(draw, (40, 62), _summary(records), 14, QUIET, "lm")
    _draw_panel(draw, (88, 124, 540, 424), "training loss", [loss], xs, x_name, math.inf)
    measured = [series for series in accuracies if series.points]
    _draw_panel(draw, (672, 124, 1124, 424), "accuracy, %", measured, xs, x_name, 100.0)
    picture = image.resize((WIDTH, HEIGHT), Image.Resampling.LANCZOS)
    write_atomically(Path(path), lambda file: picture.save(file, "PNG"))


def nice_ticks(low: float, high: float, most: int = 6) -> list[float]:
    """At most `most` + 1 multiples of 1, 2 or 5 times a power of ten that enclose low < high."""
    raw = (high - low) / (most - 1)
    power = 10.0 ** math.floor(math.log10(raw))
    step = next(power * nice for nice in (1, 2, 5, 10) if power * nice >= raw * (1 - 1e-9))
    first, last = math.floor(low / step + 1e-9), math.ceil(high / step - 1e-9)
    return [i * step for i in range(first, last + 1)]


# What to draw.


def _x_name(records: Sequence[Mapping[str, Any]]) -> str:
    """'epoch' if each record has its own; else 'step'."""
    epochs = [record.get("epoch") for record in records]
    return "epoch" if None not in epochs and len(set(epochs)) == len(epochs) else "step"


def _points(
    xs: Sequence[float], records: Sequence[Mapping[str, Any]], key: str, factor: float = 1.0
) -> list[Point]:
    """(x, factor * value) of the records where the value is a finite number."""
    pairs = ((x, record.get(key)) for x, record in zip(xs, records, strict=True))
    return [(x, factor * y) for x, y in pairs if y is not None and math.isfinite(y)]


def _summary(records: Sequence[Mapping[str, Any]]) -> str:
    """The line under the title: how far, how good, how fast, how long."""
    last = records[-1]
    name = _x_name(records)
    parts = [f"{name} {last[name]:,}"]
    best = max((y for _, y in _points([0.0] * len(records), records, "test_accuracy", 100)), default=None)
    if best is not None:
        parts.append(f"best test accuracy {best:.1f}%")
    if last.get("images_per_second") is not None:
        parts.append(img_per_second(last["images_per_second"]))
    if last.get("seconds") is not None:
        parts.append(duration(last["seconds"]))
    return "   ·   ".join(parts)


# Drawing. All positions are in pixels of the finished picture.


@dataclass(frozen=True)
class Axes:
    """Where a plot lies, box (left, top, right, bottom), and the range (low, high) of x and of y it shows."""

    box: tuple[int, int, int, int]
    x_range: Point
    y_range: Point

    def place(self, x: float, y: float) -> Point:
        """The pixel (column, row) of a value."""
        left, top, right, bottom = self.box
        (x_low, x_high), (y_low, y_high) = self.x_range, self.y_range
        across, up = (x - x_low) / (x_high - x_low), (y - y_low) / (y_high - y_low)
        return left + across * (right - left), bottom - up * (bottom - top)


def _draw_panel(
    draw: ImageDraw.ImageDraw,
    box: tuple[int, int, int, int],
    title: str,
    curves: Sequence[Series],
    xs: Sequence[float],
    x_name: str,
    ceiling: float,
) -> None:
    """One plot with its title, axes and curves; ceiling is the largest y there can be."""
    left, top, right, bottom = box
    _text(draw, (left - 48, top - 28), title, 15, INK, "lm")
    ys = [y for series in curves for _, y in series.points]
    y_ticks = nice_ticks(*_y_range(ys, ceiling)) if ys else [0.0, 1.0]
    axes = Axes(box, _spread(xs), (y_ticks[0], y_ticks[-1]))
    _draw_x_axis(draw, axes, x_name)
    if not ys:
        _text(draw, ((left + right) / 2, (top + bottom) / 2), "not measured yet", 15, QUIET, "mm")
        return
    _draw_grid(draw, axes, y_ticks)
    ends = []
    for series in curves:
        pixels = [axes.place(x, y) for x, y in series.points]
        _line(draw, pixels, series.colour, 2.5 if len(pixels) < MANY else 1.5)
        _dot(draw, pixels[-1], 4.5, series.colour)
        ends.append((pixels[-1], series))
    _label_ends(draw, ends)
    if len(curves) > 1:
        _draw_legend(draw, (right, top - 28), curves)


def _draw_x_axis(draw: ImageDraw.ImageDraw, axes: Axes, name: str) -> None:
    """The line at the bottom, with ticks at whole numbers."""
    left, _, right, bottom = axes.box
    low, high = axes.x_range
    _line(draw, [(left, bottom), (right, bottom)], AXIS, 1.5)
    for x in nice_ticks(low, high, 8):
        if low <= x <= high and abs(x - round(x)) < 1e-9:
            column, _ = axes.place(x, axes.y_range[0])
            _line(draw, [(column, bottom), (column, bottom + 5)], AXIS, 1.5)
            _text(draw, (column, bottom + 17), f"{x:,.0f}", 13, QUIET, "mm")
    _text(draw, (right, bottom + 38), name, 13, QUIET, "rm")


def _draw_grid(draw: ImageDraw.ImageDraw, axes: Axes, ticks: Sequence[float]) -> None:
    """A level line and its label for each tick of y; the lowest is the x axis."""
    left, _, right, _ = axes.box
    for y in ticks:
        _, row = axes.place(axes.x_range[0], y)
        if y > ticks[0]:
            _line(draw, [(left, row), (right, row)], GRID, 1)
        _text(draw, (left - 10, row), _tick_label(y, ticks), 13, QUIET, "rm")


def _label_ends(draw: ImageDraw.ImageDraw, ends: Sequence[tuple[Point, Series]]) -> None:
    """Write each curve's last value beside its last point, a line of text apart at least."""
    lowest = -math.inf
    for (column, row), series in sorted(ends, key=lambda end: end[0][1]):
        lowest = max(row, lowest + 18)
        _text(draw, (column + 11, lowest), series.form.format(series.points[-1][1]), 15, series.colour, "lm")


def _draw_legend(draw: ImageDraw.ImageDraw, at: Point, curves: Sequence[Series]) -> None:
    """The curves' names in their colours, in a row that ends at `at`."""
    column, row = at
    for series in reversed(curves):
        _text(draw, (column, row), series.name, 14, INK, "rm")
        column -= _font(14).getlength(series.name) / SCALE + 14
        _dot(draw, (column, row), 4.5, series.colour)
        column -= 22


def _spread(values: Sequence[float]) -> Point:
    """The least and the largest value, pulled apart if they are all but equal."""
    low, high = min(values), max(values)
    pad = max(0.5, abs(high) / 10) if high - low <= 1e-6 * max(abs(low), abs(high)) else 0.0
    return low - pad, high + pad


def _y_range(values: Sequence[float], ceiling: float) -> Point:
    """What the y axis has to show: from 0 unless that would squeeze the curve, and no more than ceiling."""
    low, high = _spread(values)
    return (0.0 if low < high / 2 else low), min(high, ceiling)


def _tick_label(value: float, ticks: Sequence[float]) -> str:
    """A tick's value with the digits that tell it from its neighbours."""
    step = ticks[1] - ticks[0]
    if ticks[-1] >= 1e6:
        return f"{value:.3g}"
    return f"{value:,.{max(0, -math.floor(math.log10(step) + 1e-9))}f}"


def _line(draw: ImageDraw.ImageDraw, points: Sequence[Point], colour: str, width: float) -> None:
    scaled = [(x * SCALE, y * SCALE) for x, y in points]
    draw.line(scaled, fill=colour, width=round(width * SCALE), joint="curve")


def _dot(draw: ImageDraw.ImageDraw, at: Point, radius: float, colour: str) -> None:
    """A dot with a rim of paper, which sets it off from what it lies on."""
    x, y = at
    for r, fill in ((radius + 1.5, PAPER), (radius, colour)):
        draw.ellipse([SCALE * (x - r), SCALE * (y - r), SCALE * (x + r), SCALE * (y + r)], fill=fill)


def _text(
    draw: ImageDraw.ImageDraw, at: tuple[float, float], text: str, size: int, colour: str, anchor: str
) -> None:
    """Text at a point; anchor is Pillow's: l, m or r across, m for the middle of the line."""
    draw.text((at[0] * SCALE, at[1] * SCALE), text, fill=colour, font=_font(size), anchor=anchor)


def _font(size: int) -> ImageFont.FreeTypeFont:
    return ImageFont.load_default(size * SCALE)
