"""Draw this lesson's figures: python -m lessons.05_patches.figures.draw"""

from pathlib import Path

import numpy as np

from lessons.drawing import BLUE, FAINT, GREEN, INK, ORANGE, QUIET, Sheet
from lessons.star import star
from tinyvit.ops import attention, class_token, linear, patchify, position_embedding, unpatchify

HERE = Path(__file__).parent
PATCH, CELL, TOP = 16, 38, 66
TOKENS, TABLE, SUM = 166, 360, 554  # left edges


def main():
    draw_embeddings()
    draw_set()
    draw_waves()


def draw_embeddings():
    """Equation 1 with numbers, for the star in four patches."""
    rng = np.random.default_rng(5)
    patches, _ = patchify(star()[None], PATCH)  # (1, 4, 768)
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
            sheet.image(30, height - 16, patches[0, position - 1].reshape(PATCH, PATCH, 3), 32)
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
    sheet.text(226 + 124, 24, "class token after attention, no table", 13, ORANGE)
    sheet.text(494 + 124, 24, "the same with a table E added", 13, GREEN)
    sheet.text(226 + 124, 130, "equal", 12, QUIET)
    sheet.text(494 + 124, 130, "different", 12, QUIET)
    sheet.save(HERE / "set.png")


def shaded(values, limit):
    """A matrix as pixels: blue above 0, orange below, white at 0."""
    share = np.clip(values / limit, -1, 1)[..., None]
    ends = [[int(colour[i : i + 2], 16) for i in (1, 3, 5)] for colour in (BLUE, ORANGE)]
    colours = np.where(share > 0, ends[0], ends[1])
    return (255 + np.abs(share) * (colours - 255)).astype(np.uint8)


def draw_waves():
    """A table of waves, and how alike its rows are, beside a table of random numbers."""
    count, width = 32, 32
    rows = np.arange(count)[:, None]
    rates = 10000.0 ** (-np.arange(0, width, 2) / width)
    waves = np.stack([np.sin(rows * rates), np.cos(rows * rates)], axis=-1).reshape(count, width)
    drawn = np.random.default_rng(1).normal(size=(count, width))
    sheet = Sheet(760, 300)
    for left, table, title in ((30, waves, "waves"), (400, drawn, "random, as a learned table starts")):
        sheet.text(left + 165, 26, title, 14, INK)
        sheet.image(left, 60, shaded(table, float(np.abs(table).max())), 160)
        lengths = np.linalg.norm(table, axis=1)
        sheet.image(left + 172, 60, shaded(table @ table.T / np.outer(lengths, lengths), 1), 160)
        sheet.text(left + 80, 236, "the table: one row per position", 12, QUIET)
        sheet.text(left + 252, 236, "cosines of its rows", 12, QUIET)
    sheet.line([(380, 20), (380, 246)], FAINT, 1)
    sheet.text(
        380,
        276,
        "Blue above 0, orange below. With waves, positions that are close together have rows that are alike.",
        13,
        QUIET,
    )
    sheet.save(HERE / "waves.png")


if __name__ == "__main__":
    main()
