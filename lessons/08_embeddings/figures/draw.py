"""Draw this lesson's figure: python -m lessons.08_embeddings.figures.draw"""

from pathlib import Path

import numpy as np

from lessons.drawing import BLUE, GREEN, INK, ORANGE, QUIET, Sheet
from tinyvit.data.shapes import CLASSES, make_shapes
from tinyvit.ops import class_token, linear, patchify, position_embedding

PATCH, CELL, TOP = 16, 38, 66
TOKENS, TABLE, SUM = 166, 360, 554  # left edges


def main():
    rng = np.random.default_rng(5)
    train = make_shapes(train=40, test=10, seed=0).train
    images = train.images[train.labels == CLASSES.index("star")][2:3]
    patches, _ = patchify(images, PATCH)  # (1, 4, 768)
    x, _ = linear(patches / 127.5 - 1, rng.normal(0, 0.06, (patches.shape[-1], 4)), np.zeros(4))
    tokens, _ = class_token(x, rng.normal(0, 0.6, 4))
    table = rng.normal(0, 0.6, (5, 4)).round(1) + 0.0  # + 0.0: no -0.0
    tokens = tokens.round(1) + 0.0
    z, _ = position_embedding(tokens, table)

    sheet = Sheet(770, 330)
    for left, values, title in ((TOKENS, tokens[0], "[t; x]"), (TABLE, table, "E"), (SUM, z[0], "z")):
        sheet.text(left + 2 * CELL, 40, title, 16, INK)
        sheet.grid(left, TOP, values, CELL, "{:.1f}", 2, 12)
    middle = TOP + 2.5 * CELL
    sheet.text(TABLE - 21, middle, "+", 20, INK)
    sheet.text(SUM - 21, middle, "=", 20, INK)
    for place in range(5):
        height = TOP + (place + 0.5) * CELL
        sheet.text(SUM + 4 * CELL + 10, height, f"place {place}", 12, QUIET, "lm")
        if place:
            sheet.image(30, height - 16, patches[0, place - 1].reshape(PATCH, PATCH, 3), 32)
            sheet.arrow((72, height), (156, height), BLUE)
    sheet.text(114, TOP + CELL + 5, "linear", 11, BLUE)
    sheet.text(30, TOP + CELL / 2, "learned token", 13, GREEN, "lm")
    sheet.arrow((122, TOP + CELL / 2), (156, TOP + CELL / 2), GREEN)
    sheet.text(TABLE + 2 * CELL, TOP + 5 * CELL + 20, "learned table", 13, ORANGE)
    sheet.text(
        385,
        308,
        "The token and the table are the same for every image; only x comes from this one.",
        13,
        QUIET,
    )
    sheet.save(Path(__file__).parent / "embeddings.png")


if __name__ == "__main__":
    main()
