"""Draw this lesson's figures: python -m lessons.19_convolution.figures.draw"""

from pathlib import Path

import numpy as np

from lessons.drawing import AXIS, BLUE, FAINT, INK, ORANGE, PAPER, QUIET, Sheet
from lessons.star import star
from tinyvit.insight.pictures.colours import tint
from tinyvit.ops import convolution, windows, windows_backward

HERE = Path(__file__).parent
EDGES = np.array([[0.0, -1, 0], [-1, 4, -1], [0, -1, 0]])


def main():
    draw_edges().save(HERE / "edges.png")
    draw_same().save(HERE / "same.png")
    draw_uses().save(HERE / "uses.png")


def draw_edges():
    """The grey picture, the kernel on one of its pixels, and the answers."""
    grey = star().mean(axis=-1)
    answers = convolution(grey.reshape(1, 32, 32, 1), EDGES.reshape(3, 3, 1, 1))[0][0, 1:-1, 1:-1, 0]
    sheet, side = Sheet(760, 292), 240
    cell = side / 32
    sheet.image(20, 16, grey.round().astype(np.uint8), side)
    row, column = 19, 21  # of the tip of a star
    sheet.line(_frame(20 + (column - 1) * cell, 16 + (row - 1) * cell, 3 * cell), INK, 2)
    sheet.grid(320, 76, EDGES, 40, "{:.0f}", 4, 15)
    sheet.arrow((272, 136), (308, 136), BLUE, 2)
    sheet.arrow((452, 136), (488, 136), BLUE, 2)
    limit = np.quantile(np.abs(answers), 0.97)
    shown = np.clip(answers / limit, -1, 1)
    colours = np.array([[_colour(value) for value in line] for line in shown], np.uint8)
    sheet.image(500, 16 + cell, colours, side - 2 * cell)
    sheet.line(_frame(500, 16 + cell, side - 2 * cell), FAINT, 1)
    sheet.line(_frame(500 + (column - 1) * cell, 16 + row * cell, cell), INK, 2)
    for middle, text in (
        (140, "the picture, in grey"),
        (380, "the kernel"),
        (612, "its answers, blue above 0"),
    ):
        sheet.text(middle, 276, text, 13, QUIET)
    return sheet


def _colour(value):
    colour = tint(BLUE if value > 0 else ORANGE, abs(value))
    return [int(colour[i : i + 2], 16) for i in (1, 3, 5)]


def _frame(x, y, side):
    return [(x, y), (x + side, y), (x + side, y + side), (x, y + side), (x, y)]


def draw_same():
    """The windows of a kernel of 3 with stride 2, down an image of 6 rows and of 7."""
    sheet = Sheet(760, 290)
    for left, length in ((30, 6), (420, 7)):
        sheet.text(left, 20, f"an image of {length} rows", 14, INK, "lm")
        for offset, above, below, name in ((0, length % 2, 1, "SAME"), (170, 1, 1, "padding=1")):
            sheet.text(left + offset, 46, name, 13, QUIET, "lm")
            _draw_column(sheet, left + offset, length, above, below)
    return sheet


def _draw_column(sheet, left, length, above, below):
    """Rows as cells, those of the padding white, and a bracket for each window."""
    cell, top = 24, 86
    for row in range(-above, length + below):
        inside = 0 <= row < length
        fill, edge = (tint(BLUE, 0.16), AXIS) if inside else (PAPER, FAINT)
        sheet.rectangle(left, top + row * cell, 44, cell, fill, edge)
        if inside:
            sheet.text(left + 22, top + (row + 0.5) * cell, str(row), 12)
    for number in range((length + 1) // 2):
        y, x = top + (2 * number - above) * cell, left + 60 + 26 * number
        sheet.line([(x - 6, y + 3), (x, y + 3), (x, y + 3 * cell - 3), (x - 6, y + 3 * cell - 3)], ORANGE, 2)


def draw_uses():
    """Number of windows that use each pixel."""
    sheet = Sheet(760, 268)
    for left, stride, text in (
        (90, 1, "stride 1: a row added on each side"),
        (470, 2, "stride 2: a row added below"),
    ):
        cut, cache = windows(np.zeros((1, 6, 6, 1)), 3, stride)
        uses = windows_backward(np.ones(cut.shape), cache)[0, :, :, 0]
        sheet.grid(left, 20, uses, 34, "{:.0f}", 9, 14)
        sheet.text(left + 102, 248, text, 13, QUIET)
    return sheet


if __name__ == "__main__":
    main()
