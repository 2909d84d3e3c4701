"""Draw this lesson's figures: python -m lessons.05_patches.figures.draw"""

from pathlib import Path

import numpy as np

from lessons.drawing import BLUE, FAINT, GREEN, INK, ORANGE, QUIET, RED, Sheet
from lessons.star import star
from tinyvit.ops import patchify
from tinyvit.pictures.colours import tint

HERE = Path(__file__).parent
PATCH, GAP, SIDE = 8, 7, 46  # pixels of a patch; points between patches; points of a patch
COLOURS = (BLUE, ORANGE, GREEN, RED)  # of the four patches of the small image


def main():
    draw_patches()
    draw_memory()


def lay_out(sheet, left, top, patches):
    """Show sixteen patches (16, P*P*3) as small pictures, four in a row."""
    for number, patch in enumerate(patches):
        row, column = divmod(number, 4)
        x, y = left + column * (SIDE + GAP), top + row * (SIDE + GAP)
        sheet.image(x, y, patch.reshape(PATCH, PATCH, 3), SIDE)


def draw_patches():
    sheet = Sheet(760, 300)
    images = star()[None]
    sheet.image(30, 54, images[0], 4 * SIDE + 3 * GAP)
    right, _ = patchify(images, PATCH)
    lay_out(sheet, 278, 54, right[0])
    lay_out(sheet, 526, 54, images.reshape(right.shape)[0])
    centre = (4 * SIDE + 3 * GAP) / 2
    sheet.text(30 + centre, 32, "an image, 32 x 32", 14)
    sheet.text(278 + centre, 32, "16 patches of 8 x 8", 14, BLUE)
    sheet.text(526 + centre, 32, "reshaped, not transposed", 14, RED)
    sheet.text(
        380,
        280,
        "Same numbers, same shape (16, 192). On the right, each patch is two rows of the image, folded.",
        13,
        QUIET,
    )
    sheet.save(HERE / "patches.png")


def draw_memory():
    """The 4 x 4 image, its numbers in memory before and after, and where each of them goes."""
    sheet = Sheet(760, 330)
    image = np.arange(16).reshape(1, 4, 4, 1)
    order = patchify(image, 2)[0].ravel()
    patch_of = np.empty(16, int)
    patch_of[order] = np.arange(16) // 4
    cell, left = 32, 218

    def row(x, y, numbers):
        for place, number in enumerate(numbers):
            fill = tint(COLOURS[patch_of[number]], 0.45)
            sheet.rectangle(x + place * cell, y, cell, cell, fill, FAINT)
            sheet.text(x + (place + 0.5) * cell, y + cell / 2, str(number), 13)

    for line in range(4):
        row(30, 92 + line * cell, range(4 * line, 4 * line + 4))
    sheet.text(30 + 2 * cell, 72, "the image", 14)
    sheet.text(left, 22, "in memory: one number after the other, a row of pixels at a time", 13, INK, "lm")
    row(left, 78, range(16))
    for place in range(16):  # one line for each number, in the colour of its patch
        start = left + (order[place] + 0.5) * cell, 78 + cell + 2
        end = left + (place + 0.5) * cell, 222
        sheet.line([start, end], COLOURS[place // 4], 1.3)
    row(left, 224, order)
    for patch in range(4):
        middle = left + (4 * patch + 2) * cell
        sheet.text(middle, 272, f"patch {patch}", 13, COLOURS[patch])
    for a, b, top in ((0.5, 1.5, 66), (1.5, 4.5, 56), (4.5, 5.5, 66)):
        x0, x1 = left + a * cell, left + b * cell
        sheet.line([(x0, 76), (x0 + 4, top), (x1 - 4, top), (x1, 76)], BLUE, 1.5)
        sheet.text((x0 + x1) / 2, top - 9, f"+{b - a:.0f}", 11, BLUE)
    sheet.text(
        380,
        308,
        "Patch 0 takes a step of 1, a jump of 3, a step of 1. A reshape reads on; a transpose jumps.",
        13,
        QUIET,
    )
    sheet.save(HERE / "memory.png")


if __name__ == "__main__":
    main()
