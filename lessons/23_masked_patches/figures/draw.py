"""Draw this lesson's figures: python -m lessons.23_masked_patches.figures.draw

painted.png and results.png are drawn from experiment.json, which experiment.py writes. study.png is drawn by
python -m tinyvit.study unlabelled --dataset cifar10.
"""

import importlib
import json
from pathlib import Path

import numpy as np

from lessons.drawing import BLUE, FAINT, GREEN, INK, ORANGE, QUIET, Sheet
from lessons.star import star
from tinyvit.data.shapes import make_shapes
from tinyvit.ops import patchify, unpatchify

mae = importlib.import_module("lessons.23_masked_patches.mae")
HERE = Path(__file__).parent
SIDE, P = 8, mae.PATCH
GREY = 150


def main():
    seen = mae.draw_seen(np.random.default_rng(7), 1, SIDE * SIDE, mae.IN_SIGHT)[0]
    draw_covered(seen)
    draw_flow(seen)
    found = json.loads((HERE / "experiment.json").read_text("utf-8"))
    draw_painted(found["paintings"])


def draw_covered(seen):
    """The star, with a quarter of its patches in sight, and whole."""
    sheet = Sheet(560, 276)
    for number, (title, picture) in enumerate((("16 of 64", covered(star(), seen)), ("all", star()))):
        left = 20 + 270 * number
        sheet.text(left + 125, 14, title, 14, INK)
        sheet.image(left, 26, picture, 240)
    sheet.save(HERE / "covered.png")


def draw_flow(seen):
    """From the patches in sight to what is painted: which tokens go where."""
    sheet, cell, top = Sheet(780, 236), 12, 64
    taken = patchify(star()[None], P)[0][0][seen].reshape(-1, P, P, 3)
    sheet.text(66, top - 20, "in sight", 13, INK)
    sheet.image(18, top, covered(star(), seen), SIDE * cell)
    arrow(sheet, 120, 148, top + 48)
    sheet.text(163, top - 20, "16 tokens", 13, INK)
    for i, patch in enumerate(taken):
        sheet.image(151 + 13 * (i % 2), top + 12 * (i // 2), patch, 10.5)
    arrow(sheet, 182, 206, top + 48)
    sheet.labelled_box(208, top - 8, 116, 112, "encoder")
    sheet.text(266, top + 68, "4 blocks, width 64", 11, QUIET)
    arrow(sheet, 326, 350, top + 48)
    sheet.text(402, top - 20, "64 tokens", 13, INK)
    for t in range(SIDE * SIDE):
        fill = BLUE if t in seen else FAINT
        x, y = 354 + cell * (t % SIDE), top + cell * (t // SIDE)
        sheet.rectangle(x, y, cell - 1.5, cell - 1.5, fill, fill)
        if t not in seen:
            sheet.text(x + 5, y + 5, "m", 8, QUIET)
    arrow(sheet, 454, 478, top + 48)
    sheet.labelled_box(480, top + 14, 100, 68, "decoder", "#fdf1e6")
    sheet.text(530, top + 63, "1 block, width 32", 11, QUIET)
    arrow(sheet, 582, 606, top + 48)
    sheet.text(660, top - 20, "painted, and compared", 13, INK)
    whole, lines = star(), [(GREEN, "hidden: counts"), (QUIET, "in sight: does not")]
    sheet.image(610, top, hidden_only(whole, seen), SIDE * cell)
    for row, (ink, words) in enumerate(lines):
        sheet.text(658, top + 112 + 18 * row, words, 12, ink)
    sheet.text(266, top + 126, "kept for fine-tuning", 12, BLUE)
    sheet.text(530, top + 126, "thrown away", 12, ORANGE)
    sheet.text(402, top + 112, "put back, with m", 12, QUIET)
    sheet.text(402, top + 128, "and positions", 12, QUIET)
    sheet.save(HERE / "flow.png")


def draw_painted(found):
    """Pictures held out: what is in sight, what is painted, and what is there."""
    painted, seen = np.array(found["painted"], np.uint8), np.array(found["seen"])
    pictures = make_shapes().test.images[: len(seen)]
    size, gap = 102, 9
    sheet = Sheet(92 + len(seen) * (size + gap), 16 + 3 * (size + gap))
    for line, name in enumerate(("in sight", "painted", "there")):
        sheet.text(76, 12 + size / 2 + line * (size + gap), name, 13, INK, "rm")
        for column, picture in enumerate(pictures):
            shown = (covered(picture, seen[column]), joined(picture, painted[column], seen[column]), picture)
            sheet.image(86 + column * (size + gap), 12 + line * (size + gap), shown[line], size)
    sheet.save(HERE / "painted.png")


def covered(picture, seen):
    """A picture in grey, but for the patches in sight."""
    return joined(picture, np.full_like(picture, GREY), seen)


def hidden_only(picture, seen):
    """A picture in which the patches in sight are pale."""
    return joined((picture // 4 + 190).astype(np.uint8), picture, seen)


def joined(picture, other, seen):
    """The patches of `other`, and those in sight of the picture."""
    patches = patchify(other[None], P)[0].copy()
    patches[0, seen] = patchify(picture[None], P)[0][0, seen]
    return unpatchify(patches, (1, *picture.shape), P)[0]


def arrow(sheet, start, end, y):
    sheet.arrow((start, y), (end, y), INK, 1.6)


if __name__ == "__main__":
    main()
