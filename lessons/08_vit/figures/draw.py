"""Draw this lesson's figures: python -m lessons.08_vit.figures.draw (trains for half a minute)"""

from pathlib import Path

import numpy as np

from lessons.drawing import BLUE, GREEN, INK, ORANGE, QUIET, RED, Axes, Sheet
from lessons.star import star
from tinyvit.data import normalise
from tinyvit.data.shapes import CLASSES, make_shapes
from tinyvit.insight.pictures.colours import tint
from tinyvit.model import ViTConfig, forward, initialise, stages
from tinyvit.model.stage import infer_through, split_at_blocks
from tinyvit.ops import (
    attention,
    attention_backward,
    layer_norm,
    layer_norm_backward,
    mlp,
    mlp_backward,
    softmax,
)
from tinyvit.training.fit import fit

HERE = Path(__file__).parent
BRANCHES = ((76, "attention", "#dce8fb"), (406, "MLP", "#fbe7d3"))
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
    stem, blocks, _ = split_at_blocks(stages(CONFIG, all_tokens=True))
    tokens = infer_through(stem, params, images)
    out = infer_through(blocks, params, tokens)
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


def draw_block():
    """The block as a graph, and below it the same graph with the gradient flowing back."""
    sheet = Sheet(790, 420)
    draw_forward(sheet, 70)
    draw_backward(sheet, 280)
    sheet.save(HERE / "block.png")


def draw_forward(sheet, road):
    branch = road + 80
    sheet.text(24, road - 40, "forward", 14, BLUE, "lm")
    sheet.text(46, road, "x", 17)
    sheet.text(752, road, "y", 17)
    for left, name, colour in BRANCHES:
        sheet.line([(left + 14, road), (left + 14, branch)], BLUE)
        sheet.arrow((left + 14, branch), (left + 42, branch), BLUE)
        sheet.labelled_box(left + 46, branch - 20, 92, 40, "LayerNorm")
        sheet.arrow((left + 140, branch), (left + 166, branch), BLUE)
        sheet.labelled_box(left + 170, branch - 20, 92, 40, name, colour)
        sheet.line([(left + 264, branch), (left + 285, branch)], BLUE)
        sheet.arrow((left + 285, branch), (left + 285, road + 14), BLUE)
    sheet.arrow((60, road), (348, road), BLUE, 3)
    sheet.arrow((374, road), (678, road), BLUE, 3)
    sheet.arrow((704, road), (738, road), BLUE, 3)
    for left, _, _ in BRANCHES:
        sheet.labelled_box(left + 272, road - 13, 26, 26, "+", "#ffffff", 17)
    sheet.text(398, road - 18, "x'", 15)
    sheet.text(215, road - 18, "residual stream", 13, BLUE)


def draw_backward(sheet, road):
    branch = road + 80
    sheet.text(24, road - 40, "backward", 14, ORANGE, "lm")
    sheet.text(42, road, "dx", 17)
    sheet.text(756, road, "dy", 17)
    for left, name, colour in BRANCHES:
        sheet.line([(left + 285, road), (left + 285, branch)], ORANGE)
        sheet.arrow((left + 285, branch), (left + 266, branch), ORANGE)
        sheet.labelled_box(left + 170, branch - 20, 92, 40, name, colour)
        sheet.arrow((left + 168, branch), (left + 142, branch), ORANGE)
        sheet.labelled_box(left + 46, branch - 20, 92, 40, "LayerNorm")
        sheet.line([(left + 44, branch), (left + 14, branch)], ORANGE)
        sheet.arrow((left + 14, branch), (left + 14, road + 14), ORANGE)
    sheet.arrow((738, road), (435, road), ORANGE, 3)
    sheet.arrow((405, road), (105, road), ORANGE, 3)
    sheet.arrow((75, road), (58, road), ORANGE, 3)
    for left, _, _ in BRANCHES:
        sheet.labelled_box(left + 1, road - 13, 26, 26, "+", "#ffffff", 17)
        sheet.dot((left + 285, road), 5, ORANGE)
        sheet.text(left + 279, road - 16, "copied", 12, QUIET, "rm")
        sheet.text(left + 32, road + 24, "added", 12, QUIET, "lm")
    sheet.text(390, road - 20, "dx'", 15)
    for left, text in ((154, "tokens exchange information"), (484, "every token for itself")):
        sheet.text(left + 62, branch + 44, text, 12, QUIET)


def sizes(residual, normalised, layers=24, D=64, heads=4):
    """The size of a gradient, 1 at first, after each fresh block that it passes on its way back.

    Returned with it is the standard deviation of the tokens that leave the last block.
    """
    config = ViTConfig(32, 8, D, 2 * D, heads, layers, 10)
    params = initialise(config, 0, "float64")
    rng = np.random.default_rng(0)
    x = rng.normal(size=(4, config.tokens, D))
    caches = []

    def branch(x, block, norm, f, part, *more):
        n, norm_cache = layer_norm(x, *params.group(f"{block}.{norm}")) if normalised else (x, None)
        y, cache = f(n, *params.group(f"{block}.{part}"), *more)
        caches.append((norm_cache, cache))
        return x + y if residual else y

    for i in range(layers):
        x = branch(x, f"blocks.{i}", "norm1", attention, "attn", heads)
        x = branch(x, f"blocks.{i}", "norm2", mlp, "mlp")
    g = rng.normal(size=x.shape)
    g /= np.linalg.norm(g)
    size = [1.0]
    for number, (norm_cache, cache) in enumerate(reversed(caches)):
        d = (mlp_backward, attention_backward)[number % 2](g, cache)[0]
        if normalised:
            d = layer_norm_backward(d, norm_cache)[0]
        g = g + d if residual else d
        if number % 2:
            size.append(float(np.linalg.norm(g)))
    return size, x.std()


def draw_depth():
    sheet = Sheet(760, 330)
    kinds = (
        (True, False, ORANGE, "plus sign alone"),
        (True, True, BLUE, "plus sign and LayerNorm"),
        (False, True, GREEN, "LayerNorm alone"),
        (False, False, RED, "neither"),
    )
    axes = Axes(sheet, (70, 40, 540, 280), (0, 24), (1e-10, 1e10), "y")
    axes.y_ticks((1e-10, 1e-5, 1, 1e5, 1e10), ("1e-10", "1e-5", "1", "1e5", "1e10"), 12)
    axes.x_ticks((0, 6, 12, 18, 24), size=12)
    axes.x_name("blocks passed on the way back", 13)
    axes.y_name("size of the gradient", 13)
    ends = []
    for residual, normalised, colour, name in kinds:
        size, deviation = sizes(residual, normalised)
        axes.curve(range(25), size, colour, 2.5)
        ends.append((24, size[-1], name, colour))
        print(f"{name:24} size {size[-1]:.2g}   deviation of the stream {deviation:.2g}")
    axes.label_ends(ends, 13, 12)
    sheet.save(HERE / "depth.png")


if __name__ == "__main__":
    draw_depth()
    draw_block()
    draw_star(trained())
