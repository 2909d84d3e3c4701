"""The losses and accuracies of several runs in one picture."""

import math
import os
from collections.abc import Sequence

from tinyvit.pictures.axes import legend_rows, legend_width
from tinyvit.pictures.colours import INK, QUIET, SERIES, tint
from tinyvit.pictures.curves import Record, draw_axes, finite_points, judging_images, x_axis_name
from tinyvit.pictures.sheet import Point, Sheet
from tinyvit.pictures.text import cut_middle

WIDTH = 1200  # of the picture, in pixels
LOSS_BOX, ACCURACY_BOX = (88, 92, 540, 412), (672, 92, 1124, 412)
LEGEND_TOP, LEGEND_ROW, LEGEND_SIZE = 484, 26, 15
LONGEST_NAME = 330  # in pixels, so that three names fit in a row
MOST_LABELS = 14  # of curves whose last values fit next to a plot

Run = tuple[str, Sequence[Record]]


def draw_comparison(runs: Sequence[Run], path: str | os.PathLike[str], accuracy: str = "accuracy") -> None:
    """Draw the curves of runs (name, records of metrics.jsonl) to a PNG, replacing path atomically.

    Each run has a colour. Losses on the validation images, or on the test images if there are none, are solid
    lines, and training losses are dashed. Accuracies, under the title `accuracy`, are on the same images.
    Everything is plotted against epochs, or against steps if several records of a run share an epoch. Raises
    ValueError without any records, UserError if the picture cannot be written.
    """
    if not any(records for _, records in runs):
        raise ValueError("no records to draw: expected at least one")
    names = [cut_middle(name, LONGEST_NAME, LEGEND_SIZE) for name, _ in runs]
    rows = legend_rows(names, WIDTH - 80, LEGEND_SIZE)
    sheet = Sheet(WIDTH, LEGEND_TOP + LEGEND_ROW * len(rows) + 14)
    x_name = "step" if any(x_axis_name(records) == "step" for _, records in runs if records) else "epoch"
    judged = [judging_images(records) for _, records in runs]
    keys = [{"validation": "val", "test": "test"}[images] for images in judged]
    measured_on = " or ".join(sorted(set(judged)))

    def curves(suffix: str, factor: float = 1.0) -> list[list[Point]]:
        pairs = zip(runs, keys, strict=True)
        return [finite_points(records, x_name, f"{key}_{suffix}", factor) for (_, records), key in pairs]

    training = [finite_points(records, x_name, "train_loss") for _, records in runs]
    loss_title = f"loss ({measured_on}; dashed: training)"
    _draw_panel(sheet, LOSS_BOX, loss_title, curves("loss"), training, x_name, math.inf, "{:.3f}")
    accuracies = curves("accuracy", 100)
    none: list[list[Point]] = [[] for _ in runs]
    title = f"{accuracy}, % ({measured_on})"
    _draw_panel(sheet, ACCURACY_BOX, title, accuracies, none, x_name, 100, "{:.1f}%")
    for line, row in enumerate(rows):
        left, height = 40.0, LEGEND_TOP + LEGEND_ROW * line
        for i in row:
            sheet.dot((left + 5, height), 5, colour_of(i))
            sheet.text(left + 17, height, names[i], LEGEND_SIZE, INK, "lm")
            left += legend_width(names[i], LEGEND_SIZE)
    sheet.save(path)


def colour_of(i: int) -> str:
    """The colour of the i-th run: those of SERIES, then the same ones in paler shades."""
    turn, number = divmod(i, len(SERIES))
    return tint(SERIES[number], 0.5**turn)


def _draw_panel(
    sheet: Sheet,
    box: tuple[int, int, int, int],
    title: str,
    lines: Sequence[list[Point]],
    dashed: Sequence[list[Point]],
    x_name: str,
    ceiling: float,
    form: str,
) -> None:
    """One plot, with a solid and a dashed line for each run, either of which may be empty."""
    left, top, right, bottom = box
    sheet.text(left - 48, top - 34, title, 16, INK, "lm")
    points = [point for curve in (*lines, *dashed) for point in curve]
    if not points:
        sheet.text((left + right) / 2, (top + bottom) / 2, "not measured yet", 15, QUIET)
        return
    axes = draw_axes(sheet, box, [x for x, _ in points], [y for _, y in points], x_name, ceiling)
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
            ends.append((*line[-1], form.format(line[-1][1]), colour))
    if len(ends) <= MOST_LABELS:
        last = max(x for x, *_ in ends) if ends else 0
        axes.label_ends([(last, y, label, colour) for _, y, label, colour in ends], 14, 10)
