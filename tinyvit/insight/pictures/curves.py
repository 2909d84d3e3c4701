"""Losses and accuracies, epoch by epoch: of one run, or of several runs beside each other."""

import math
from collections.abc import Mapping, Sequence
from typing import Any

from tinyvit.insight.pictures.axes import (
    Axes,
    draw_legend,
    legend_rows,
    legend_width,
    nice_ticks,
    whole_ticks,
)
from tinyvit.insight.pictures.colours import BLUE, GREEN, INK, ORANGE, QUIET, SERIES, tint
from tinyvit.insight.pictures.sheet import Box, File, Point, Sheet, cut_middle
from tinyvit.support.figures import duration, img_per_second

WIDTH, HEIGHT = 1200, 480  # of the picture of a run, in pixels
LOSS_BOX, ACCURACY_BOX = (88, 124, 540, 424), (672, 124, 1124, 424)
MANY = 300  # points from which a curve is drawn thinner
STAR = 8  # radius in pixels

COLOURS = {"training": BLUE, "test": GREEN, "validation": ORANGE}
KEYS = {"training": "train", "test": "test", "validation": "val"}  # the beginnings of keys of records
FACTORS, FORMS = {"loss": 1.0, "accuracy": 100.0}, {"loss": "{:.3f}", "accuracy": "{:.1f}%"}

Record = Mapping[str, Any]


# What records say.


def x_axis_name(records: Sequence[Record]) -> str:
    """'epoch' if each record has its own epoch, otherwise 'step'."""
    epochs = [record.get("epoch") for record in records]
    return "epoch" if None not in epochs and len(set(epochs)) == len(epochs) else "step"


def judging_images(records: Sequence[Record]) -> str:
    """'validation' if there are such images, otherwise 'test'."""
    held_out = ("val_accuracy", "val_loss")
    return "validation" if any(r.get(key) is not None for r in records for key in held_out) else "test"


def points_of(records: Sequence[Record], x_name: str, images: str, measure: str) -> list[Point]:
    """(x, y) of the records in which a measure, 'loss' or 'accuracy' (in percent), is a finite number."""
    values = [(float(record[x_name]), record.get(f"{KEYS[images]}_{measure}")) for record in records]
    return [(x, FACTORS[measure] * y) for x, y in values if y is not None and math.isfinite(y)]


# One run.


def draw_curves(
    records: Sequence[Record],
    path: File,
    title: str,
    best_epoch: int | None = None,
    accuracy: str = "accuracy",
) -> None:
    """Draw a run's losses and accuracies to a PNG at path.

    records are the objects of metrics.jsonl, in order: train_loss, test_loss, val_loss, and test_accuracy and
    val_accuracy (0..1), against epoch, or against step if several records share an epoch. A value that is
    missing, None or not finite is omitted. A star marks best_epoch, if given, on the curves of the images by
    which it was chosen: the validation images, or the test images if there are none. `accuracy` is what the
    accuracies are called.
    """
    if not records:
        raise ValueError("no records to draw: expected at least one")
    x_name, judge = x_axis_name(records), judging_images(records)
    measured = {
        measure: {name: points for name in images if (points := points_of(records, x_name, name, measure))}
        for measure, images in (("loss", COLOURS), ("accuracy", ("test", "validation")))
    }
    losses = measured["loss"]
    loss_title = "training loss" if list(losses) == ["training"] else "loss"
    empty = "not measured" if judge in losses else "not measured yet"
    sheet = Sheet(WIDTH, HEIGHT)
    sheet.title(title, 40, 34, 22)
    sheet.text(40, 62, _summary(records, best_epoch, accuracy), 14, QUIET, "lm")
    for box, name, measure, ceiling, words in (
        (LOSS_BOX, loss_title, "loss", math.inf, "not measured yet"),
        (ACCURACY_BOX, f"{accuracy}, %", "accuracy", 100.0, empty),
    ):
        curves = measured[measure]
        best = _best_point(records, judge, measure, best_epoch) if judge in curves else None
        _, top, right, _ = box
        _draw_title(sheet, box, name, "" if curves else words, top - 28, 15)
        xs, ys = [float(record[x_name]) for record in records], [y for c in curves.values() for _, y in c]
        axes = _draw_axes(sheet, box, xs, ys, x_name, ceiling)
        for images, points in curves.items():
            axes.curve(*zip(*points, strict=True), COLOURS[images], 2.5 if len(points) < MANY else 1.5)
            sheet.dot(axes.place(*points[-1]), 4.5, COLOURS[images])
        if best:
            sheet.star(axes.place(*best), STAR, COLOURS[judge])
        last = {images: points[-1] for images, points in curves.items()}
        ends = [(x, y, FORMS[measure].format(y), COLOURS[images]) for images, (x, y) in last.items()]
        axes.label_ends(ends, 15, STAR + 5)
        if len(curves) > 1 or best:
            star = f"best epoch {best_epoch}" if best else ""
            _draw_names(sheet, (right, top - 28), list(curves), star)
    sheet.save(path)


def _best_point(records: Sequence[Record], images: str, measure: str, best_epoch: int | None) -> Point | None:
    """The point on the curve of a measure for the end of the best epoch."""
    of_epoch = [record for record in records if best_epoch and record.get("epoch") == best_epoch]
    points = points_of(of_epoch, x_axis_name(records), images, measure)
    return points[-1] if points else None


def _summary(records: Sequence[Record], best_epoch: int | None, accuracy: str) -> str:
    """The line below the title: progress, best accuracy, speed and time."""
    last, name, images = records[-1], x_axis_name(records), judging_images(records)
    parts = [f"{name} {last[name]:,}"]
    if best_epoch is None and (points := points_of(records, name, "test", "accuracy")):
        parts.append(f"best test {accuracy} {max(y for _, y in points):.1f}%")
    if point := _best_point(records, images, "accuracy", best_epoch):
        parts.append(f"best epoch {best_epoch}: {images} {accuracy} {point[1]:.1f}%")
    elif point := _best_point(records, images, "loss", best_epoch):
        parts.append(f"best epoch {best_epoch}: {images} loss {point[1]:.3f}")
    if last.get("images_per_second") is not None:
        parts.append(img_per_second(last["images_per_second"]))
    if last.get("seconds") is not None:
        parts.append(duration(last["seconds"]))
    return "   ·   ".join(parts)


def _draw_names(sheet: Sheet, at: Point, names: Sequence[str], star: str) -> None:
    """The names of the curves next to their colours, and the meaning of the star, in a row ending at `at`."""
    size, (right, row) = 14, at
    width = sum(legend_width(name, size) for name in (*names, star) if name)
    start = right - width + 1.5 * size, row
    left, _ = draw_legend(sheet, start, names, [COLOURS[name] for name in names], size, 4.5)
    if star:
        sheet.star((left, row), STAR, INK)
        sheet.text(left + 12, row, star, size, INK, "lm")


# Several runs.

RUNS_LOSS_BOX, RUNS_ACCURACY_BOX = (88, 92, 540, 412), (672, 92, 1124, 412)
LEGEND_TOP, LEGEND_ROW, LEGEND_SIZE = 484, 26, 15
LONGEST_NAME = 330  # in pixels, so that three names fit in a row
MOST_LABELS = 14  # of curves whose last values fit next to a plot


def draw_comparison(
    runs: Sequence[tuple[str, Sequence[Record]]], path: File, accuracy: str = "accuracy"
) -> None:
    """Draw the curves of runs (name, records of metrics.jsonl) to a PNG at path.

    Each run has a colour. Losses on the validation images, or on the test images if there are none, are solid
    lines, and training losses are dashed. Accuracies, under the title `accuracy`, are on the same images.
    Everything is plotted against epochs, or against steps if several records of a run share an epoch.
    """
    if not any(records for _, records in runs):
        raise ValueError("no records to draw: expected at least one")
    names = [cut_middle(name, LONGEST_NAME, LEGEND_SIZE) for name, _ in runs]
    rows = legend_rows(names, WIDTH - 80, LEGEND_SIZE)
    sheet = Sheet(WIDTH, LEGEND_TOP + LEGEND_ROW * len(rows) + 14)
    x_name = "step" if any(x_axis_name(records) == "step" for _, records in runs if records) else "epoch"
    judges = [judging_images(records) for _, records in runs]

    def lines(images: Sequence[str], measure: str) -> list[list[Point]]:
        pairs = zip(runs, images, strict=True)
        return [points_of(records, x_name, name, measure) for (_, records), name in pairs]

    measured_on = " or ".join(sorted(set(judges)))
    training = lines(["training"] * len(runs), "loss")
    loss_title = f"loss ({measured_on}; dashed: training)"
    _draw_runs(sheet, RUNS_LOSS_BOX, loss_title, lines(judges, "loss"), training, x_name, "loss")
    accuracies = lines(judges, "accuracy")
    none: list[list[Point]] = [[] for _ in runs]
    title = f"{accuracy}, % ({measured_on})"
    _draw_runs(sheet, RUNS_ACCURACY_BOX, title, accuracies, none, x_name, "accuracy")
    for line, row in enumerate(rows):
        colours = [colour_of(i) for i in row]
        height = LEGEND_TOP + LEGEND_ROW * line
        draw_legend(sheet, (45, height), [names[i] for i in row], colours, LEGEND_SIZE)
    sheet.save(path)


def colour_of(i: int) -> str:
    """The colour of the i-th run: those of SERIES, then the same ones in paler shades."""
    turn, number = divmod(i, len(SERIES))
    return tint(SERIES[number], 0.5**turn)


def _draw_runs(
    sheet: Sheet,
    box: Box,
    title: str,
    lines: Sequence[list[Point]],
    dashed: Sequence[list[Point]],
    x_name: str,
    measure: str,
) -> None:
    """One plot, with a solid and a dashed line for each run, either of which may be empty."""
    points = [point for curve in (*lines, *dashed) for point in curve]
    _draw_title(sheet, box, title, "" if points else "not measured yet", box[1] - 34, 16)
    if not points:
        return
    ceiling = 100.0 if measure == "accuracy" else math.inf
    axes = _draw_axes(sheet, box, [x for x, _ in points], [y for _, y in points], x_name, ceiling)
    ends = []
    for i, (line, dashes) in enumerate(zip(lines, dashed, strict=True)):
        colour = colour_of(i)
        if len(dashes) > 1:
            axes.curve(*zip(*dashes, strict=True), colour, 1.5, dashed=True)
        elif dashes and not line:
            sheet.dot(axes.place(*dashes[0]), 3, colour)
        if line:
            axes.curve(*zip(*line, strict=True), colour, 2.2)
            sheet.dot(axes.place(*line[-1]), 4, colour)
            ends.append((*line[-1], FORMS[measure].format(line[-1][1]), colour))
    if len(ends) <= MOST_LABELS:
        last = max((x for x, *_ in ends), default=0)
        axes.label_ends([(last, y, label, colour) for _, y, label, colour in ends], 14, 10)


# Both.


def _draw_title(sheet: Sheet, box: Box, title: str, empty: str, row: float, size: float) -> None:
    """The title above a plot, and in its middle the word for a plot without curves."""
    left, top, right, bottom = box
    sheet.text(left - 48, row, title, size, INK, "lm")
    if empty:
        sheet.text((left + right) / 2, (top + bottom) / 2, empty, 15, QUIET)


def _draw_axes(
    sheet: Sheet, box: Box, xs: Sequence[float], ys: Sequence[float], x_name: str, ceiling: float
) -> Axes:
    """Axes for these values, with grid lines for y and whole numbers for x; without ys, no numbers.

    The y axis begins at 0, unless that would flatten the curves, and ends at ceiling at the latest.
    """
    left, _, right, bottom = box
    ticks = [0.0, 1.0]
    if ys:
        low, high = _spread(ys)
        ticks = nice_ticks(0.0 if low < high / 2 else low, min(high, ceiling))
    axes = Axes(sheet, box, _spread(xs), (ticks[0], ticks[-1]))
    if ys:
        axes.y_ticks(ticks, size=13)
    sheet.line([(left, bottom), (right, bottom)], QUIET, 1)
    axes.x_ticks(whole_ticks(*axes.x_range), size=13)
    sheet.text(right, bottom + 38, x_name, 13, QUIET, "rm")
    return axes


def _spread(values: Sequence[float]) -> Point:
    """The smallest and the largest value, moved apart if they are nearly equal."""
    low, high = min(values), max(values)
    pad = max(0.5, abs(high) / 10) if high - low <= 1e-6 * max(abs(low), abs(high)) else 0.0
    return low - pad, high + pad
