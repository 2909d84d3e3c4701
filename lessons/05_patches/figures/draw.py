"""Draw this lesson's figures: python -m lessons.05_patches.figures.draw"""

from pathlib import Path

import numpy as np

from lessons.drawing import BLUE, FAINT, GREEN, INK, ORANGE, QUIET, RED, Sheet
from lessons.star import star
from tinyvit.insight.pictures.colours import tint
from tinyvit.ops import attention, class_token, linear, patchify, position_embedding, unpatchify

HERE = Path(__file__).parent
PATCH, GAP, SIDE = 8, 7, 46  # pixels of a patch; points between patches; points of a patch
COLOURS = (BLUE, ORANGE, GREEN, RED)  # of the four patches of the small image
LARGE, CELL, TOP = 16, 38, 66  # of the embeddings: pixels of a patch, points of a cell, upper edge
TOKENS, TABLE, SUM = 166, 360, 554  # left edges


def main():
    draw_set()
    draw_patches()
    draw_memory()
    draw_embeddings()


def draw_set():
    """The stars and their shuffled patches, and the class token after attention, without and with a table."""
    rng = np.random.default_rng(0)  # draws in the order of the text, and so gets the text's numbers
    W, b, t = rng.normal(0, 0.1, (192, 8)), rng.normal(size=8), rng.normal(size=8)
    weights = rng.normal(size=(8, 24)), rng.normal(size=24), rng.normal(size=(8, 8)), rng.normal(size=8)
    order = rng.permutation(16)
    patches = patchify(star()[None], 8)[0]
    both = np.concatenate([patches, patches[:, order]])  # (2, 16, 192)
    x, _ = linear(both / 127.5 - 1, W, b)
    tokens, _ = class_token(x, t)
    without = attention(tokens, *weights, heads=2)[0][:, 0]
    within = attention(tokens + rng.normal(size=(17, 8)), *weights, heads=2)[0][:, 0]

    sheet = Sheet(760, 262)
    pictures = unpatchify(both, (2, 32, 32, 3), 8)
    for line, (picture, title) in enumerate(zip(pictures, ("four stars", "shuffled"), strict=True)):
        top = 46 + 108 * line
        sheet.image(30, top, picture, 88)
        for i in range(1, 4):
            sheet.line([(30 + 22 * i, top), (30 + 22 * i, top + 88)], "#ffffff", 1)
            sheet.line([(30, top + 22 * i), (118, top + 22 * i)], "#ffffff", 1)
        sheet.text(132, top + 44, title, 13, INK, "lm")
        sheet.grid(226, top + 28, without[line : line + 1], 31, "{:.1f}", 10, 11)
        sheet.grid(494, top + 28, within[line : line + 1], 31, "{:.1f}", 10, 11)
    sheet.text(226 + 124, 24, "what the layer says of each picture", 13, ORANGE)
    sheet.text(494 + 124, 24, "with a position added to each patch", 13, GREEN)
    sheet.text(226 + 124, 130, "equal", 12, QUIET)
    sheet.text(494 + 124, 130, "different", 12, QUIET)
    sheet.save(HERE / "set.png")


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


def draw_embeddings():
    """Equation 1 with numbers, for the star in four patches."""
    rng = np.random.default_rng(5)
    patches, _ = patchify(star()[None], LARGE)  # (1, 4, 768)
    x, _ = linear(patches / 127.5 - 1, rng.normal(0, 0.06, (patches.shape[-1], 4)), np.zeros(4))
    tokens, _ = class_token(x, rng.normal(0, 0.6, 4))
    table = rng.normal(0, 0.6, (5, 4)).round(1) + 0.0  # + 0.0: no -0.0
    tokens = tokens.round(1) + 0.0
    z, _ = position_embedding(tokens, table)

    sheet = Sheet(800, 330)
    for left, values, title in ((TOKENS, tokens[0], "[t; x]"), (TABLE, table, "E"), (SUM, z[0], "z")):
        sheet.text(left + 2 * CELL, 40, title, 16, INK)
        sheet.grid(left, TOP, values, CELL, "{:.1f}", 2, 12)
    middle = TOP + 2.5 * CELL
    sheet.text(TABLE - 21, middle, "+", 20, INK)
    sheet.text(SUM - 21, middle, "=", 20, INK)
    for position in range(5):
        height = TOP + (position + 0.5) * CELL
        sheet.text(SUM + 4 * CELL + 10, height, f"position {position}", 12, QUIET, "lm")
        if position:
            sheet.image(30, height - 16, patches[0, position - 1].reshape(LARGE, LARGE, 3), 32)
            sheet.arrow((72, height), (156, height), BLUE)
    sheet.text(114, TOP + CELL + 5, "linear", 11, BLUE)
    sheet.text(30, TOP + CELL / 2, "learned token", 13, GREEN, "lm")
    sheet.arrow((122, TOP + CELL / 2), (156, TOP + CELL / 2), GREEN)
    sheet.text(TABLE + 2 * CELL, TOP + 5 * CELL + 20, "learned table", 13, ORANGE)
    sheet.text(
        400,
        308,
        "The token and the table are the same for every image; only x comes from this one.",
        13,
        QUIET,
    )
    sheet.save(HERE / "embeddings.png")


if __name__ == "__main__":
    main()
