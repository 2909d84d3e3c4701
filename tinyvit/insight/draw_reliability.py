"""The reliability picture: how often a model is right, by how sure it is (see judging.reliability)."""

import os

import numpy as np

from tinyvit.insight.judging import Reliability, calibration_error, wilson_interval
from tinyvit.pictures.axes import Axes
from tinyvit.pictures.colours import BLUE, INK, ORANGE, QUIET, tint
from tinyvit.pictures.sheet import Sheet
from tinyvit.pictures.text import cut, text_width

WIDTH, HEIGHT, MARGIN = 640, 784, 32
LEFT, RIGHT = 92, 572
TOP, BOTTOM = 116, 540  # of the accuracies
BARS, BASE = 612, 692  # the top and the base of the numbers of images
TICKS = (0.0, 0.2, 0.4, 0.6, 0.8, 1.0)
LEGEND = "dot: the images of a bin  ·  line: 95% interval of their accuracy  ·  orange: surer than right"


def draw_reliability(table: Reliability, path: str | os.PathLike[str], title: str) -> None:
    """Draw a reliability table to a PNG: a dot for each bin that has images, and how many those are.

    Raises UserError if the picture cannot be written.
    """
    sheet = Sheet(WIDTH, HEIGHT)
    error = f"accuracy by confidence  ·  expected calibration error {100 * calibration_error(table):.1f}%"
    sheet.text(MARGIN, 32, cut(title, WIDTH - 2 * MARGIN, 20), 20, INK, "lm")
    sheet.text(MARGIN, 62, error, 14, QUIET, "lm")
    axes = Axes(sheet, (LEFT, TOP, RIGHT, BOTTOM), (0, 1), (0, 1))
    percents = [f"{100 * tick:.0f}" for tick in TICKS]
    axes.y_ticks(TICKS, percents, 13)
    axes.x_ticks(TICKS, percents, 13)
    axes.y_name("accuracy, %", 13)
    axes.x_name("confidence, %", 13)
    axes.frame()
    axes.curve((0, 1), (0, 1), QUIET, 1.5, dashed=True)
    bins, most = len(table.images), table.images.max()
    step = (RIGHT - LEFT) / bins
    sheet.line([(LEFT, BASE), (RIGHT, BASE)], QUIET, 1)
    for i, (images, accuracy, confidence) in enumerate(zip(*table, strict=True)):
        if np.isnan(confidence):  # no images
            continue
        colour = ORANGE if accuracy < confidence else BLUE
        interval = wilson_interval(accuracy, images)
        axes.curve((confidence, confidence), interval, tint(colour, 0.5), 2)
        sheet.dot(axes.place(confidence, accuracy), 5, colour)
        high = (BASE - BARS) * images / most
        sheet.rectangle(LEFT + i * step + 2, BASE - high, step - 4, high, tint(BLUE, 0.35))
        number = f"{images:,}"
        if text_width(number, 11) > step - 3:
            number = f"{images / 1e3:.0f}k" if images < 1e6 else f"{images / 1e6:.0f}M"
        sheet.text(LEFT + (i + 0.5) * step, BASE - high - 9, number, 11, QUIET)
    sheet.text((LEFT + RIGHT) / 2, BASE + 20, "images in each bin", 13, INK)
    sheet.text(MARGIN, HEIGHT - 32, LEGEND, 12, QUIET, "lm")
    sheet.save(path)
