"""Pictures of an evaluation: the confusion matrix, the worst mistakes, and how sure the model is rightly."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import PurePath

import numpy as np

from tinyvit.insight.pictures.axes import Axes
from tinyvit.insight.pictures.colours import BLUE, FAINT, GREEN, INK, ORANGE, PAPER, QUIET, RED, tint
from tinyvit.insight.pictures.sheet import File, Sheet, cut, cut_middle, fitted, text_width
from tinyvit.training.evaluation import Reliability, calibration_error, wilson_interval

MARGIN = 32  # in points, as everything here
LEAST_WIDTH = 560  # of a picture, so that its title fits

# The confusion matrix.

MOST_CLASSES = 100
HEAD, FOOT = 96, 40  # above the matrix and its labels, for the titles, and below it
SMALLEST_CELL, LARGEST_CELL, MATRIX = 12, 64, 640  # sides of a cell; side of the matrix, if cells allow it
LONGEST_NAME, LABEL_SPACE = 180, 10  # of a class; between a name and its cells
SHARE_WIDTH = 62  # to the right of the matrix, for the accuracy of each class
AXES = "row: what it is  ·  column: what the model says"
LEGEND = "colour: share of the images of a class  ·  blue: right  ·  orange: wrong"


def draw_confusion(counts: np.ndarray, classes: Sequence[str], path: File, title: str) -> None:
    """Draw counts (C, C) of images, by what they are (row) and what the model says (column), to a PNG.

    A cell is coloured by its share of its row, and holds its number where that fits; right of a row stands
    the share of its images that are right. Raises ValueError unless there are 2 to MOST_CLASSES classes and
    as many rows and columns.
    """
    C = len(classes)
    if counts.shape != (C, C) or not 2 <= C <= MOST_CLASSES:
        raise ValueError(
            f"counts of shape {counts.shape} and {C} classes, expected (C, C), C 2 to {MOST_CLASSES}"
        )
    cell = min(max(MATRIX // C, SMALLEST_CELL), LARGEST_CELL)
    size, number_size = min(14.0, 0.8 * cell), min(15.0, 0.42 * cell)
    names = [cut_middle(name, LONGEST_NAME, size) for name in classes]
    labels = math.ceil(max(text_width(name, size) for name in names)) + LABEL_SPACE
    left, top = MARGIN + labels, HEAD + labels
    width = max(left + C * cell + SHARE_WIDTH + MARGIN, LEAST_WIDTH)
    sheet = Sheet(width, top + C * cell + FOOT, smooth=2)
    sheet.title(title, MARGIN)
    sheet.title(AXES, MARGIN, 62, 14, QUIET)
    totals = counts.sum(axis=1)
    shares = counts / np.maximum(totals, 1)[:, None]
    for i, name in enumerate(names):
        middle = (i + 0.5) * cell
        sheet.text(left - LABEL_SPACE, top + middle, name, size, INK, "rm")
        sheet.text_upwards(left + middle, top - LABEL_SPACE, name, size, INK)
        right = f"{100 * shares[i, i]:.1f}%" if totals[i] else "-"
        sheet.text(left + C * cell + LABEL_SPACE, top + middle, right, size, QUIET, "lm")
    for (r, c), share in np.ndenumerate(shares):
        x, y = left + c * cell, top + r * cell
        strength = math.sqrt(share)  # the root shows rare mistakes, too
        sheet.rectangle(x, y, cell, cell, tint(BLUE if r == c else ORANGE, strength), FAINT)
        number = f"{counts[r, c]:,}"
        if counts[r, c] and cell >= 18 and text_width(number, number_size) <= cell - 4:
            sheet.text(x + cell / 2, y + cell / 2, number, number_size, PAPER if strength > 0.6 else INK)
    sheet.text(MARGIN, top + C * cell + FOOT / 2, LEGEND, 12, QUIET, "lm")
    sheet.save(path)


# Mistakes.

SIDE = 160  # largest width and height of an image: smaller ones are enlarged, larger ones reduced
TOP, SPACE = 64, 24  # above the first row; between images
CAPTION, NAME = 48, 18  # below an image: what was said and what it is; the name of its file
MOST_COLUMNS = 6


@dataclass(frozen=True)
class Mistake:
    """An image (H, W, 3) uint8, the predicted class, its probability (0..1), the true class, and the file."""

    image: np.ndarray
    said: str
    probability: float
    truth: str
    name: str = ""


def draw_mistakes(mistakes: Sequence[Mistake], path: File, title: str) -> None:
    """Draw mistakes in order, row by row, to a PNG at path; if there are none, the picture says so."""
    columns = min(max(1, len(mistakes)), MOST_COLUMNS)
    lines = max(1, math.ceil(len(mistakes) / columns))
    width = max(2 * MARGIN + columns * (SIDE + SPACE) - SPACE, LEAST_WIDTH)
    down = SIDE + CAPTION + (NAME if any(mistake.name for mistake in mistakes) else 0) + SPACE
    sheet = Sheet(width, TOP + lines * down, smooth=1)
    sheet.title(title, MARGIN)
    if not mistakes:
        sheet.text(MARGIN, TOP + SIDE / 2, "no mistakes", 18, QUIET, "lm")
    for i, mistake in enumerate(mistakes):
        left, top = MARGIN + i % columns * (SIDE + SPACE), TOP + i // columns * down
        picture = fitted(mistake.image, SIDE)
        sheet.image(left + (SIDE - picture.width) // 2, top + (SIDE - picture.height) // 2, picture)
        share = f" {100 * mistake.probability:.0f}%"
        said = cut(f"said {mistake.said}", SIDE - text_width(share, 15), 15) + share
        file = PurePath(mistake.name).name  # its folder is the class
        sheet.text(left, top + SIDE + 15, said, 15, RED, "lm")
        sheet.text(left, top + SIDE + 36, cut(f"is {mistake.truth}", SIDE, 15), 15, GREEN, "lm")
        sheet.text(left, top + SIDE + 56, cut(file, SIDE, 13), 13, QUIET, "lm")
    sheet.save(path)


# Reliability.

RELIABILITY = 640, 784  # width and height of the picture
FRAME = 92, 116, 572, 540  # of the accuracies: left, top, right, bottom
BARS, BASE = 612, 692  # the top and the base of the numbers of images
TICKS = (0.0, 0.2, 0.4, 0.6, 0.8, 1.0)
MEANING = "dot: the images of a bin  ·  line: 95% interval of their accuracy  ·  orange: surer than right"


def draw_reliability(table: Reliability, path: File, title: str) -> None:
    """Draw how often a model is right, by how sure it is, to a PNG: a dot for each bin that has images."""
    (width, height), (left, _, right, _) = RELIABILITY, FRAME
    error = f"accuracy by confidence  ·  expected calibration error {100 * calibration_error(table):.1f}%"
    sheet = Sheet(width, height)
    sheet.title(title, MARGIN)
    sheet.text(MARGIN, 62, error, 14, QUIET, "lm")
    axes = Axes(sheet, FRAME, (0, 1), (0, 1))
    percents = [f"{100 * tick:.0f}" for tick in TICKS]
    axes.y_ticks(TICKS, percents, 13)
    axes.x_ticks(TICKS, percents, 13)
    axes.y_name("accuracy, %", 13)
    axes.x_name("confidence, %", 13)
    axes.frame()
    axes.curve((0, 1), (0, 1), QUIET, 1.5, dashed=True)
    step, most = (right - left) / len(table.images), table.images.max()
    sheet.line([(left, BASE), (right, BASE)], QUIET, 1)
    for i, (images, accuracy, confidence) in enumerate(zip(*table, strict=True)):
        if np.isnan(confidence):  # no images
            continue
        colour = ORANGE if accuracy < confidence else BLUE
        axes.curve((confidence,) * 2, wilson_interval(accuracy, images), tint(colour, 0.5), 2)
        sheet.dot(axes.place(confidence, accuracy), 5, colour)
        high = (BASE - BARS) * images / most
        sheet.rectangle(left + i * step + 2, BASE - high, step - 4, high, tint(BLUE, 0.35))
        number = f"{images:,}"
        if text_width(number, 11) > step - 3:
            number = f"{images / 1e3:.0f}k" if images < 1e6 else f"{images / 1e6:.0f}M"
        sheet.text(left + (i + 0.5) * step, BASE - high - 9, number, 11, QUIET)
    sheet.text((left + right) / 2, BASE + 20, "images in each bin", 13, INK)
    sheet.text(MARGIN, height - 32, MEANING, 12, QUIET, "lm")
    sheet.save(path)
