"""Draw this lesson's figures: python -m lessons.17_pretrained.figures.draw

draws lineup.png. positions.png needs a run that was trained on CIFAR-10:

    python -m tinyvit.train --dataset cifar10 --threads 1 --out RUN
    python -m lessons.17_pretrained.figures.draw RUN
"""

import sys
from pathlib import Path

import numpy as np

import tinyvit
from lessons.drawing import BLUE, GREEN, INK, ORANGE, QUIET, Sheet
from lessons.star import star
from tinyvit.insight.pictures.colours import tint
from tinyvit.insight.positions import position_similarity
from tinyvit.ops.resize import resize_images

HERE = Path(__file__).parent
OLD, NEW = 4, 8  # values in the rows of the line-up
CORNER = (slice(2, 14), slice(1, 13))  # of the star picture


def main(run=None):
    draw_lineup()
    if run:
        draw_positions(tinyvit.load(run, threads=1))


def draw_lineup():
    """The places from which both methods read the new values, and a part of the star picture, resized."""
    sheet = Sheet(780, 420)
    width = 320
    for number, method in enumerate(("corners", "half-pixel (bilinear)")):
        left = 30 + 400 * number
        sheet.text(left, 22, method, 15, INK, "lm")
        cell = width / OLD
        for j in range(OLD):
            sheet.box(left + j * cell, 44, cell - 3, 34, tint(BLUE, 0.16), BLUE)
        for i in range(NEW):
            small = width / NEW
            sheet.box(left + i * small, 132, small - 3, 34, tint(GREEN, 0.16), GREEN)
            t = i * (OLD - 1) / (NEW - 1) if number == 0 else (i + 0.5) * OLD / NEW - 0.5
            at = left + (t + 0.5) * cell - 1.5
            sheet.line([(left + (i + 0.5) * small - 1.5, 132), (at, 80)], ORANGE, 1.3)
            sheet.dot((at, 80), 2.5, ORANGE)
            sheet.text(left + (i + 0.5) * small - 1.5, 149, str(i), 12)
        for j in range(OLD):
            sheet.text(left + (j + 0.5) * cell - 1.5, 61, str(j), 12)
    small = star()[CORNER].astype(np.float64)[None]
    pictures = (
        ("a corner of the star, 12 x 12", small),
        ("corners, 24 x 24", resize_images(small, (24, 24), "corners")),
        ("half-pixel, 24 x 24", resize_images(small, (24, 24), "bilinear")),
    )
    for number, (title, picture) in enumerate(pictures):
        left = 30 + 250 * number
        sheet.text(left, 208, title, 13, QUIET, "lm")
        sheet.image(left, 222, np.rint(picture[0]).astype(np.uint8), 180)
    sheet.save(HERE / "lineup.png")


def draw_positions(trained):
    """One channel of the position table, and one map of similarity, before and after 32 -> 64 pixels."""
    table = positions_of(trained)
    smooth = (table[1:] * table[:-1]).sum((0, 1)) / (table * table).sum((0, 1))
    channel = int(smooth.argmax())  # the channel whose neighbours are most alike
    sheet = Sheet(800, 600)
    side = 208
    columns = [("as trained, 8 x 8", trained)]
    for method in ("corners", "bilinear"):
        columns.append((f"{method}, 16 x 16", trained.at_resolution(64, method)))
    for number, (title, model) in enumerate(columns):
        left, count = 120 + 228 * number, model.config.grid[0]
        places = positions_of(model)
        sheet.text(left + side / 2, 24, title, 15)
        limit = float(np.abs(table[..., channel]).max())
        sheet.grid(left, 44, places[..., channel], side / count, None, limit)
        row, column = 2 * count // 8, 5 * count // 8
        similarity = position_similarity(model.config, model.params)[row, column]
        sheet.grid(left, 272, similarity, side / count, None, 1.0)
        wave = places[2 * count // 8, :, channel]
        at = (np.arange(count) + 0.5) / count
        middle, height = 550, 44 / limit
        sheet.line([(left, middle), (left + side, middle)], QUIET, 0.7)
        points = [(left + side * a, middle - height * v) for a, v in zip(at, wave, strict=True)]
        sheet.line(points, BLUE, 1.5)
        for point in points:
            sheet.dot(point, 2, BLUE)
    for y, lines in ((148, ("one channel", "of the table")), (376, ("how alike to", "one position"))):
        sheet.text(14, y - 9, lines[0], 13, INK, "lm")
        sheet.text(14, y + 9, lines[1], 13, INK, "lm")
    sheet.text(14, 541, "a row of", 13, INK, "lm")
    sheet.text(14, 559, "the channel", 13, INK, "lm")
    sheet.save(HERE / "positions.png")
    print("channel", channel)


def positions_of(model):
    """The position table without the class token's row, (gh, gw, D)."""
    config = model.config
    return model.params["position"][config.has_token :].reshape(*config.grid, -1)


if __name__ == "__main__":
    main(*sys.argv[1:2])
