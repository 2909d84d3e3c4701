"""Draw this lesson's figures: python -m lessons.08_vit.figures.draw (trains for half a minute)"""

from pathlib import Path

import numpy as np

from lessons.drawing import BLUE, INK, ORANGE, QUIET, Sheet
from lessons.star import star
from tinyvit.data import normalise
from tinyvit.data.shapes import CLASSES, make_shapes
from tinyvit.model import ViTConfig, forward, initialise
from tinyvit.model.block import block
from tinyvit.model.stem import stem
from tinyvit.ops import softmax
from tinyvit.pictures.colours import tint
from tinyvit.training.fit import fit

HERE = Path(__file__).parent
CONFIG = ViTConfig(32, 4, width=32, mlp_width=64, heads=4, layers=2, classes=10)


def trained():
    """A small model that knows the shapes fairly well."""
    params = initialise(CONFIG)
    fit(CONFIG, params, make_shapes(train=4000, test=1).train, epochs=12, batch_size=50, lr=3e-3, flip=True)
    return params


def draw_star(params):
    """The star from pixels to probabilities, with its shapes below."""
    sheet = Sheet(860, 292)
    images = normalise(star()[None], "float32")
    tokens, _ = stem(CONFIG, params, images)
    out = tokens
    for i in range(CONFIG.layers):
        out, _ = block(CONFIG, params, i, out)
    logits, _ = forward(CONFIG, params, images)
    top, side = 70, 128
    sheet.image(20, top, star(), side)
    draw_patches(sheet, 182, top, side)
    draw_tokens(sheet, 366, top, side, tokens[0], "tokens", "65 x 32")
    draw_tokens(sheet, 480, top, side, out[0], "after 2 blocks", "65 x 32")
    draw_tokens(sheet, 594, top + side / 2 - 3, side, out[0, :1], "class token", "32", top + side)
    draw_probabilities(sheet, 700, top, softmax(logits)[0][0])
    for x, text, shape in ((84, "image", "32 x 32 x 3"), (253, "64 patches", "64 x 48")):
        sheet.text(x, top - 22, text, 13)
        sheet.text(x, top + side + 26, shape, 11, QUIET)
    for start, end, _ in ((150, 178, 0), (328, 362, 0), (434, 476, 0), (548, 590, 0), (662, 692, 0)):
        sheet.arrow((start, top + side / 2 - 10), (end, top + side / 2 - 10), BLUE)
    for start, end in ((590, 548), (692, 662), (476, 434), (362, 328)):
        sheet.arrow((start, top + side / 2 + 10), (end, top + side / 2 + 10), ORANGE)
    sheet.text(20, 262, "forward", 13, BLUE, "lm")
    sheet.text(86, 262, "backward, as far as there are parameters", 13, ORANGE, "lm")
    sheet.save(HERE / "star.png")


def draw_patches(sheet, left, top, side):
    size = (side + 7 * 2) / 8
    for number in range(64):
        row, column = divmod(number, 8)
        patch = star()[4 * row : 4 * row + 4, 4 * column : 4 * column + 4]
        sheet.image(left + column * (size + 0.2), top - 7 + row * (size + 0.2), patch, size - 2)


def draw_tokens(sheet, left, top, side, tokens, name, shape, below=None):
    """Tokens as rows of colours, blue above 0 and orange below."""
    shares = np.clip(tokens / 2.5 / tokens.std(), -1, 1)
    colours = [[tint(BLUE if s > 0 else ORANGE, 0.85 * abs(float(s))) for s in row] for row in shares]
    pixels = np.array(
        [[[int(c[i : i + 2], 16) for i in (1, 3, 5)] for c in row] for row in colours], np.uint8
    )
    repeat = 1 if len(pixels) > 1 else 3
    sheet.image(left, top, pixels.repeat(2 * repeat, axis=0).repeat(2, axis=1), 64)
    sheet.text(left + 32, 48, name, 13)
    sheet.text(left + 32, (below or top + side) + 26, shape, 11, QUIET)


def draw_probabilities(sheet, left, top, shares):
    for row, (name, share) in enumerate(zip(CLASSES, shares, strict=True)):
        y = top + 6 + 13 * row
        sheet.text(left + 56, y, name, 11, INK, "rm")
        sheet.line([(left + 62, y), (left + 63 + 60 * float(share), y)], BLUE, 8)
        if share > 0.05:
            sheet.text(left + 68 + 60 * float(share), y, f"{share:.2f}", 11, QUIET, "lm")
    sheet.text(left + 75, top - 22, "softmax of the logits", 13)
    sheet.text(left + 75, top + 154, "10", 11, QUIET)


def draw_parameters():
    """Where the parameters of ViT-B/16 are."""
    sheet = Sheet(800, 190)
    D, M = 768, 3072
    parts = (
        ("patch embedding", 768 * D + D, "#8db3f0"),
        ("position, token", 198 * D, "#f0b987"),
        ("attention, 12 blocks", 12 * 4 * (D * D + D), BLUE),
        ("MLP, 12 blocks", 12 * (2 * D * M + M + D), "#7fb8a4"),
        ("25 LayerNorms", 25 * 2 * D, "#b9a3d9"),
        ("head", D * 1000 + 1000, "#d9dee6"),
    )
    total = sum(size for _, size, _ in parts)
    sheet.text(27, 24, f"Where the {total:,} parameters of ViT-B/16 are", 15, INK, "lm")
    for row, (name, size, fill) in enumerate(parts):
        y = 44 + row * 23
        sheet.text(170, y + 9, name, 12, INK, "rm")
        length = max(1.5, 480 * size / (12 * (2 * D * M + M + D)))
        sheet.line([(180, y + 9), (180 + length, y + 9)], fill, 15)
        sheet.text(188 + length, y + 9, f"{size:,}", 12, QUIET, "lm")
    sheet.save(HERE / "parameters.png")


if __name__ == "__main__":
    draw_parameters()
    draw_star(trained())
