"""Draw this lesson's figures. The last one needs a trained run of the built-in shapes:

python -m tinyvit.train --threads 1 --out RUN
python -m lessons.06_attention.figures.draw RUN
"""

import sys
from pathlib import Path

import numpy as np

import tinyvit
from lessons.drawing import FAINT, INK, PAPER, QUIET, Sheet
from lessons.star import star

HERE = Path(__file__).parent

HEADS = ("#8db3f0", "#f0b987")  # head 1, head 2


def weights(sheet, left, top, cell, sliced):
    """qkv_weight of D = 4 and two heads: rows are numbers of the token, columns q, k, v of both heads."""
    for group, name in enumerate("qkv"):
        start = left + group * (4 * cell + 8)
        sheet.text(start + 2 * cell, top - 14, name, 14, INK)
        for row in range(4):
            for column in range(4):
                head = column // 2
                fill = HEADS[head] if not sliced or row // 2 == head else PAPER
                sheet.box(start + column * cell, top + row * cell, cell, cell, fill, FAINT)


def main(runs):
    draw_slices()
    for run in runs:
        draw_heads(tinyvit.load(run))


def draw_slices():
    sheet = Sheet(760, 400)
    cell, top = 22, 96
    for left, title, sliced in (
        (52, "every head reads the whole token", False),
        (452, "each head its own slice: wrong", True),
    ):
        sheet.text(left + 140, 46, title, 15, INK)
        weights(sheet, left, top, cell, sliced)
        for row in range(4):
            sheet.text(left - 12, top + (row + 0.5) * cell, str(row + 1), 11, QUIET)
    sheet.text(20, top + 2 * cell, "x", 14, INK)

    top = 238
    for head, fill in enumerate(HEADS):
        y = top + head * 62
        sheet.labelled_box(52, y, 120, 40, f"q k v of head {head + 1}", fill, 12)
        sheet.arrow((176, y + 20), (222, y + 20))
        sheet.labelled_box(226, y, 170, 40, "softmax(q k^T / sqrt K) v", "#eef3fc", 12)
        sheet.arrow((400, y + 20), (446, y + 20))
        sheet.labelled_box(450, y, 44, 40, f"o {head + 1}", fill, 12)
        sheet.arrow((498, y + 20), (540, top + 41 + 20 * head))
    sheet.labelled_box(544, top + 24, 44, 54, "o 1", HEADS[0], 12)
    sheet.labelled_box(588, top + 24, 44, 54, "o 2", HEADS[1], 12)
    sheet.arrow((636, top + 51), (684, top + 51))
    sheet.text(660, top + 36, "Wo", 12, INK)
    sheet.labelled_box(688, top + 24, 44, 54, "y", PAPER, 14)
    sheet.text(588, top + 96, "side by side", 11, QUIET)
    sheet.text(
        380,
        384,
        "Only the results are cut into heads, and the output projection joins them again.",
        13,
        QUIET,
    )
    sheet.save(HERE / "multi_head.png")


def draw_heads(model):
    """Where one patch of the green star looks, in the four heads of the first and of the third block."""
    picture, side, full, patch = star(), 132, 6, 45
    A = np.asarray(model.attention(picture[None]))[0, :, :, patch + 1, 1:]  # (blocks, heads, T)
    sheet = Sheet(760, 366)
    sheet.text(24 + side / 2, 22, "the patch that asks", 13, INK)
    row, column = divmod(patch, 8)
    for line, block in enumerate((0, 2)):
        top = 40 + line * (side + 18)
        sheet.image(24, top, picture, side)
        x, y, step = 24 + column * side / 8, top + row * side / 8, side / 8
        for colour, width in ((PAPER, 5), (INK, 2.5)):
            corners = [(x, y), (x + step, y), (x + step, y + step), (x, y + step), (x, y), (x + step, y)]
            sheet.line(corners, colour, width)
        for head in range(4):
            left = 176 + head * (side + 12)
            share = np.clip(A[block, head] * A.shape[-1] / full, 0, 1)
            share = share.reshape(8, 8).repeat(4, axis=0).repeat(4, axis=1)
            sheet.rectangle(left - 1, top - 1, side + 2, side + 2, PAPER, QUIET)
            sheet.image(left, top, (255 - (255 - 0.5 * picture) * share[..., None]).astype(np.uint8), side)
            if line == 0:
                sheet.text(left + side / 2, 22, f"head {head + 1}", 13, INK)
    note = "First block above, third block below. White: no attention; dark: 6 times an even share or more."
    sheet.text(380, 348, note, 13, QUIET)
    sheet.save(HERE / "heads.png")


if __name__ == "__main__":
    main(sys.argv[1:])
