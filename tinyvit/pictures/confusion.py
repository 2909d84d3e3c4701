"""A picture of a confusion matrix: what the model predicts for the images of each class."""

import math
import os
from collections.abc import Sequence

import numpy as np

from tinyvit.pictures.colours import BLUE, FAINT, INK, ORANGE, PAPER, QUIET, tint
from tinyvit.pictures.sheet import Sheet
from tinyvit.pictures.text import cut, cut_middle, text_width

MOST_CLASSES = 100

MARGIN, HEAD, FOOT = 32, 96, 40  # around the matrix and its labels, in pixels; HEAD holds the titles
SMALLEST_CELL, LARGEST_CELL, MATRIX = 12, 64, 640  # sides of a cell; side of the matrix, if cells allow it
LONGEST_NAME, LABEL_SPACE = 180, 10  # of a class, in pixels; between a name and its cells
SHARE_WIDTH = 62  # to the right of the matrix, for the accuracy of each class
LEAST_WIDTH = 560  # of the picture, so that its title fits
LEGEND = "colour: share of the images of a class  ·  blue: right  ·  orange: wrong"


def draw_confusion(
    counts: np.ndarray, classes: Sequence[str], path: str | os.PathLike[str], title: str
) -> None:
    """Draw counts (C, C) of images, by what they are (row) and what the model says (column), to a PNG.

    A cell is coloured by its share of its row, and holds its number where that fits; right of a row stands
    the share of its images that are right. Raises ValueError unless there are 2 to MOST_CLASSES classes and
    as many rows and columns, UserError if the picture cannot be written.
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
    sheet.text(MARGIN, 32, cut(title, width - 2 * MARGIN, 20), 20, INK, "lm")
    sheet.text(
        MARGIN,
        62,
        cut("row: what it is  ·  column: what the model says", width - 2 * MARGIN, 14),
        14,
        QUIET,
        "lm",
    )

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


def confusion_counts(labels: np.ndarray, said: np.ndarray, classes: int) -> np.ndarray:
    """The number of images of each class (row) for which the model predicts each class (column): (C, C) int.

    labels and said (n,) are class indices from 0 to classes - 1.
    """
    pairs = (labels * classes + said).astype(np.intp, copy=False)  # bincount takes no wider numbers
    return np.bincount(pairs, minlength=classes * classes).reshape(classes, classes)


def worst_mistakes(labels: np.ndarray, probabilities: np.ndarray, count: int) -> np.ndarray:
    """Indices of the images (at most count) that are misclassified with the highest probability.

    labels (n,) are class indices, probabilities (n, C); the worst mistake comes first.
    """
    wrong = np.flatnonzero(probabilities.argmax(axis=1) != labels)
    return wrong[np.argsort(-probabilities[wrong].max(axis=1), kind="stable")[:count]]
