"""Draw this lesson's figures; the last one from measured.json, which measure.py writes.

python -m lessons.21_positions.figures.draw
"""

import json
from pathlib import Path

import numpy as np

from lessons.drawing import AXIS, BLUE, FAINT, GREEN, INK, ORANGE, PAPER, QUIET, RED, Axes, Sheet
from tinyvit.insight.pictures.colours import tint
from tinyvit.ops import positions_2d, positions_sincos

HERE = Path(__file__).parent
KEYS = (BLUE, ORANGE, GREEN, RED)
KINDS = ("none", "1d", "2d", "sincos", "relative")
UNSEEN = ((0, 1), (1, 3), (2, 0), (3, 2))  # as in measure.py


def main():
    draw_skew()
    draw_maps()
    draw_unseen()


def draw_skew():
    """Four queries and four keys: G in rows of eight, its memory, and the same memory in rows of seven."""
    N, W, cell = 4, 7, 34
    sheet = Sheet(760, 392)
    top, left, right = 62, 62, 468
    sheet.text(left + 4 * cell, 20, "G and a column of zeros", 15, INK)
    sheet.text(right + 3.5 * cell, 20, "the same memory in rows of 7", 15, INK)
    for m in range(W):
        sheet.text(left + (m + 0.5) * cell, top - 14, f"{N - 1 - m:+d}" if m != N - 1 else "0", 12, QUIET)
    sheet.text(left - 10, top - 14, "i - j", 12, QUIET, "rm")
    for i in range(N):
        sheet.text(left - 12, top + (i + 0.5) * cell, f"q{i}", 13, QUIET, "rm")
        sheet.text(right - 12, top + (i + 0.5) * cell, f"q{i}", 13, QUIET, "rm")
    for j in range(N):
        sheet.text(right + (j + 0.5) * cell, top - 14, f"key {j}", 10.5, QUIET)

    def square(x, y, place, side, size):
        i, m = divmod(place, W + 1)
        j = m - (N - 1 - i)
        is_score = m < W and 0 <= j < N
        fill = tint(KEYS[j], 0.42) if is_score else tint(QUIET, 0.25) if m == W else PAPER
        sheet.rectangle(x, y, side, side, fill, FAINT if is_score else AXIS)
        sheet.text(x + side / 2, y + side / 2, f"{place}", size, INK if is_score else QUIET)

    sheet.text(left + (W + 0.5) * cell, top - 14, "zeros", 10.5, QUIET)
    for place in range(N * (W + 1)):
        i, m = divmod(place, W + 1)
        square(left + m * cell, top + i * cell, place, cell, 13)
    strip, along = top + N * cell + 58, 21.5
    start = 380 - 16 * along
    sheet.text(380, strip - 24, "in memory: one number after the other", 13, INK)
    for place in range(N * (W + 1)):
        square(start + place * along, strip, place, along, 10)
    skip, taken = N - 1, N * W
    for a, b, label in (
        (0, skip, "skip 3"),
        (skip, skip + taken, "four rows of 7: the first 4 are S"),
    ):
        x0, x1, y = start + a * along + 2, start + b * along - 2, strip + along + 8
        sheet.line([(x0, y - 4), (x0, y), (x1, y), (x1, y - 4)], INK, 1.2)
        sheet.text((x0 + x1) / 2, y + 13, label, 12, INK)
    for place in range(skip, skip + taken):
        i, m = divmod(place - skip, W)
        square(right + m * cell, top + i * cell, place, cell, 13)
    sheet.line([(right + N * cell, top), (right + N * cell, top + N * cell)], INK, 2.2)
    sheet.arrow((left + 8 * cell + 22, top + 2 * cell), (right - 44, top + 2 * cell), INK)
    sheet.text(
        380,
        348,
        "Each colour is a key. Left, its scores lie on a diagonal: one row down is one number to the left.",
        13,
        INK,
    )
    sheet.text(380, 370, "The numbers say where in memory each entry lies. None of them is moved.", 13, QUIET)
    sheet.save(HERE / "skew.png")


def draw_maps():
    """The similarity of the position in row 2, column 5 to all others of an 8 x 8 grid, for three tables."""
    rng = np.random.default_rng(0)
    at, D, side = 2 * 8 + 5, 64, 176
    tables = (  # the third column is the cosine that is white
        ("1-D, before training", rng.normal(size=(64, D)), 0.0),
        ("2-D, before training", positions_2d(*rng.normal(size=(2, 8, D // 2)))[0], 0.0),
        ("sines and cosines, fixed", positions_sincos((8, 8), D), 0.7),
    )
    sheet = Sheet(760, 276)
    for n, (title, table, white) in enumerate(tables):
        left, top = 40 + n * 252, 44
        unit = table / np.linalg.norm(table, axis=1, keepdims=True)
        cosines = (unit @ unit[at]).reshape(8, 8)
        sheet.text(left + side / 2, 22, title, 14, INK)
        sheet.grid(left, top, (cosines - white) / (1 - white), side / 8, None, 1.0)
        x, y, step = left + 5 * side / 8, top + 2 * side / 8, side / 8
        sheet.line([(x, y), (x + step, y), (x + step, y + step), (x, y + step), (x, y)], INK, 2)
    sheet.text(
        380,
        244,
        "The cosine of the framed position with all others. Blue: 1; white: 0 (right: 0.7); orange: below 0.",
        13,
        QUIET,
    )
    sheet.save(HERE / "maps.png")


def draw_unseen():
    """The task, and how often the column is found, where the light has been seen and where it has not."""
    results = json.loads((HERE / "measured.json").read_text("utf-8"))
    sheet, cell, left, top = Sheet(760, 300), 46, 40, 52
    sheet.text(left + 2 * cell, 24, "where the light may be", 14, INK)
    for r, c in np.ndindex(4, 4):
        is_unseen = (r, c) in UNSEEN
        fill = tint(ORANGE, 0.55) if is_unseen else tint(BLUE, 0.4)
        sheet.rectangle(left + c * cell, top + r * cell, cell, cell, fill, PAPER)
    for c in range(4):
        sheet.text(left + (c + 0.5) * cell, top + 4 * cell + 14, f"{c}", 12, QUIET)
    sheet.text(left + 2 * cell, top + 4 * cell + 34, "which column?", 12, QUIET)
    axes = Axes(sheet, (330, 52, 730, 236), (0.0, 5.0), (0.0, 1.0))
    for y in (0.0, 0.5, 1.0):
        axes.curve((0, 5), (y, y), FAINT, 1)
        sheet.text(322, axes.place(0, y)[1], f"{100 * y:.0f} %", 12, QUIET, "rm")
    _, guess = axes.place(0, 0.25)
    sheet.dashes([(330, guess), (730, guess)], QUIET)
    sheet.text(322, guess, "guessing", 12, QUIET, "rm")
    for k, kind in enumerate(KINDS):
        x, _ = axes.place(k + 0.5, 0)
        sheet.text(x, 254, kind, 13, INK)
        for which, colour, shift in (("seen", BLUE, -22), ("unseen", ORANGE, 8)):
            values = [row[which] for row in results if row["kind"] == kind]
            for n, value in enumerate(values):
                sheet.dot((x + shift + 3.5 * n, axes.place(0, value)[1]), 4, colour)
    sheet.dot((360, 26), 5, BLUE)
    sheet.text(372, 26, "the light is where it was in training", 12, INK, "lm")
    sheet.dot((604, 26), 5, ORANGE)
    sheet.text(616, 26, "where it never was", 12, INK, "lm")
    sheet.text(530, 282, "Column found, five seeds each", 12, QUIET)
    sheet.save(HERE / "unseen.png")


if __name__ == "__main__":
    main()
