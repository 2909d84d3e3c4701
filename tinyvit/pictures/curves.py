"""The picture of a run: its losses and its accuracies, epoch by epoch."""

import math
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from tinyvit.pictures.axes import Axes, legend_width, nice_ticks, whole_ticks
from tinyvit.pictures.colours import BLUE, GREEN, INK, ORANGE, QUIET
from tinyvit.pictures.sheet import Point, Sheet
from tinyvit.pictures.text import cut
from tinyvit.shell.figures import duration, img_per_second

WIDTH, HEIGHT = 1200, 480  # of the picture, in pixels
LOSS_BOX, ACCURACY_BOX = (88, 124, 540, 424), (672, 124, 1124, 424)
MANY = 300  # points from which a curve is drawn thinner
STAR = 8  # radius in pixels

COLOURS = {"training": BLUE, "test": GREEN, "validation": ORANGE}

Record = Mapping[str, Any]


@dataclass(frozen=True)
class Series:
    """One curve: points (x, y) in the units of the axes, a format for its last value, its best point."""

    name: str
    points: list[Point]
    form: str
    best: Point | None = None

    @property
    def colour(self) -> str:
        return COLOURS[self.name]


def draw_curves(
    records: Sequence[Record],
    path: str | os.PathLike[str],
    title: str,
    best_epoch: int | None = None,
    accuracy: str = "accuracy",
) -> None:
    """Draw a run's losses and accuracies to a PNG at path, which is replaced atomically.

    records are the objects of metrics.jsonl, in order: train_loss, test_loss, val_loss, and test_accuracy and
    val_accuracy (0..1), against epoch, or against step if several records share an epoch. A value that is
    missing, None or not finite is omitted. A star marks best_epoch, if given, on the curves of the images by
    which it was chosen: the validation images, or the test images if there are none. `accuracy` is what the
    accuracies are called. Raises ValueError without records, UserError if the picture cannot be written.
    """
    if not records:
        raise ValueError("no records to draw: expected at least one")
    x_name = x_axis_name(records)
    xs = [float(record[x_name]) for record in records]

    judge = judging_images(records)

    def series(name: str, key: str, factor: float, form: str) -> Series:
        best = _best_point(records, x_name, key, factor, best_epoch) if name == judge else None
        return Series(name, finite_points(records, x_name, key, factor), form, best)

    losses = [
        series("training", "train_loss", 1, "{:.3f}"),
        series("test", "test_loss", 1, "{:.3f}"),
        series("validation", "val_loss", 1, "{:.3f}"),
    ]
    accuracies = [
        series("test", "test_accuracy", 100, "{:.1f}%"),
        series("validation", "val_accuracy", 100, "{:.1f}%"),
    ]
    losses, accuracies = ([s for s in group if s.points] for group in (losses, accuracies))
    loss_title = "training loss" if [s.name for s in losses] == ["training"] else "loss"
    empty = "not measured" if losses and losses[-1].name == judge else "not measured yet"
    sheet = Sheet(WIDTH, HEIGHT)
    sheet.text(40, 34, cut(title, WIDTH - 80, 22), 22, INK, "lm")
    sheet.text(40, 62, _summary(records, best_epoch, accuracy), 14, QUIET, "lm")
    _draw_panel(sheet, LOSS_BOX, loss_title, losses, xs, x_name, math.inf, best_epoch)
    _draw_panel(sheet, ACCURACY_BOX, f"{accuracy}, %", accuracies, xs, x_name, 100.0, best_epoch, empty)
    sheet.save(path)


# What to draw.


def x_axis_name(records: Sequence[Record]) -> str:
    """'epoch' if each record has its own epoch, otherwise 'step'."""
    epochs = [record.get("epoch") for record in records]
    return "epoch" if None not in epochs and len(set(epochs)) == len(epochs) else "step"


def finite_points(records: Sequence[Record], x_name: str, key: str, factor: float = 1.0) -> list[Point]:
    """(x, factor * value) of the records where the value is a finite number."""
    pairs = ((float(record[x_name]), record.get(key)) for record in records)
    return [(x, factor * y) for x, y in pairs if y is not None and math.isfinite(y)]


def judging_images(records: Sequence[Record]) -> str:
    """'validation' if there are such images, otherwise 'test'."""
    held_out = ("val_accuracy", "val_loss")
    return "validation" if any(r.get(key) is not None for r in records for key in held_out) else "test"


def _best_point(
    records: Sequence[Record], x_name: str, key: str, factor: float, best_epoch: int | None
) -> Point | None:
    """The point on a curve for the end of the best epoch."""
    of_epoch = [record for record in records if best_epoch and record.get("epoch") == best_epoch]
    points = finite_points(of_epoch, x_name, key, factor)
    return points[-1] if points else None


def _summary(records: Sequence[Record], best_epoch: int | None, accuracy: str) -> str:
    """The line below the title: progress, best accuracy, speed and time."""
    last = records[-1]
    name = x_axis_name(records)
    parts = [f"{name} {last[name]:,}"]
    if best_epoch is None:
        best = max((y for _, y in finite_points(records, name, "test_accuracy", 100)), default=None)
        if best is not None:
            parts.append(f"best test {accuracy} {best:.1f}%")
    images = judging_images(records)
    key = {"validation": "val_accuracy", "test": "test_accuracy"}[images]
    if point := _best_point(records, name, key, 100, best_epoch):
        parts.append(f"best epoch {best_epoch}: {images} {accuracy} {point[1]:.1f}%")
    elif point := _best_point(records, name, key.replace("accuracy", "loss"), 1, best_epoch):
        parts.append(f"best epoch {best_epoch}: {images} loss {point[1]:.3f}")
    if last.get("images_per_second") is not None:
        parts.append(img_per_second(last["images_per_second"]))
    if last.get("seconds") is not None:
        parts.append(duration(last["seconds"]))
    return "   ·   ".join(parts)


def spread(values: Sequence[float]) -> Point:
    """The smallest and the largest value, moved apart if they are nearly equal."""
    low, high = min(values), max(values)
    pad = max(0.5, abs(high) / 10) if high - low <= 1e-6 * max(abs(low), abs(high)) else 0.0
    return low - pad, high + pad


def y_range(values: Sequence[float], ceiling: float) -> Point:
    """The range of the y axis: from 0, unless that would flatten the curve, and no higher than ceiling."""
    low, high = spread(values)
    return (0.0 if low < high / 2 else low), min(high, ceiling)


# Drawing.


def _draw_panel(
    sheet: Sheet,
    box: tuple[int, int, int, int],
    title: str,
    curves: Sequence[Series],
    xs: Sequence[float],
    x_name: str,
    ceiling: float,
    best_epoch: int | None,
    empty: str = "not measured yet",
) -> None:
    """One plot with its title, axes and curves, or the text `empty`; ceiling is the largest possible y."""
    left, top, right, bottom = box
    sheet.text(left - 48, top - 28, title, 15, INK, "lm")
    ys = [y for series in curves for _, y in series.points]
    axes = draw_axes(sheet, box, xs, ys, x_name, ceiling)
    if not ys:
        sheet.text((left + right) / 2, (top + bottom) / 2, empty, 15, QUIET)
        return
    for series in curves:
        pixels = [axes.place(x, y) for x, y in series.points]
        sheet.line(pixels, series.colour, 2.5 if len(pixels) < MANY else 1.5)
        sheet.dot(pixels[-1], 4.5, series.colour)
    starred = [series for series in curves if series.best]
    for series in starred:
        sheet.star(axes.place(*series.best), STAR, series.colour)
    ends = [
        (*series.points[-1], series.form.format(series.points[-1][1]), series.colour) for series in curves
    ]
    axes.label_ends(ends, 15, STAR + 5)
    if len(curves) > 1 or starred:
        _draw_legend(sheet, (right, top - 28), curves, best_epoch if starred else None)


def draw_axes(
    sheet: Sheet,
    box: tuple[int, int, int, int],
    xs: Sequence[float],
    ys: Sequence[float],
    x_name: str,
    ceiling: float,
) -> Axes:
    """Axes for these values, with grid lines for y and whole numbers for x; without ys, no numbers."""
    left, _, right, bottom = box
    ticks = nice_ticks(*y_range(ys, ceiling)) if ys else [0.0, 1.0]
    axes = Axes(sheet, box, spread(xs), (ticks[0], ticks[-1]))
    if ys:
        axes.y_ticks(ticks, size=13)
    sheet.line([(left, bottom), (right, bottom)], QUIET, 1)
    axes.x_ticks(whole_ticks(*axes.x_range), size=13)
    sheet.text(right, bottom + 38, x_name, 13, QUIET, "rm")
    return axes


def _draw_legend(sheet: Sheet, at: Point, curves: Sequence[Series], best_epoch: int | None) -> None:
    """The names of the curves next to their colours, and the meaning of the star, in a row ending at `at`."""
    size = 14
    names = [series.name for series in curves]
    if best_epoch is not None:
        names.append(f"best epoch {best_epoch}")
    right, row = at
    left = right - sum(legend_width(name, size) for name in names) + 1.5 * size
    for i, name in enumerate(names):
        if i < len(curves):
            sheet.dot((left, row), 4.5, curves[i].colour)
        else:
            sheet.star((left, row), STAR, INK)
        sheet.text(left + 12, row, name, size, INK, "lm")
        left += legend_width(name, size)
