"""Draw this lesson's figures: python -m lessons.08_vit.figures.draw"""

from pathlib import Path

import numpy as np

from lessons.drawing import BLUE, GREEN, ORANGE, QUIET, RED, Axes, Sheet
from tinyvit.model import ViTConfig, initialise
from tinyvit.ops import attention, attention_backward, layer_norm, layer_norm_backward, mlp, mlp_backward

HERE = Path(__file__).parent


def draw_block():
    """The block as a graph, and below it the same graph with the gradient flowing back."""
    sheet = Sheet(790, 420)
    draw_forward(sheet, 70)
    draw_backward(sheet, 280)
    sheet.save(HERE / "block.png")


BRANCHES = ((76, "attention", "#dce8fb"), (406, "MLP", "#fbe7d3"))


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
    """What becomes of a gradient of size 1 on its way back through fresh blocks.

    Returns its size after each block; the mean cosine between two tokens of an image, after each block on the
    way forward; the cosine of the gradient with what was sent, on the way back; and the standard deviation of
    the tokens at the end.
    """
    config = ViTConfig(32, 8, D, 2 * D, heads, layers, 10)
    params = initialise(config, 0, "float64")
    rng = np.random.default_rng(0)
    x = rng.normal(size=(4, config.tokens, D))
    caches, alike = [], []

    def branch(x, prefix, norm, f, names, *more):
        n, norm_cache = x, None
        if normalised:
            n, norm_cache = layer_norm(x, params[prefix + norm + ".weight"], params[prefix + norm + ".bias"])
        y, cache = f(n, *(params[prefix + name] for name in names), *more)
        caches.append((norm_cache, cache))
        return x + y if residual else y

    attn = ("attn.qkv.weight", "attn.qkv.bias", "attn.out.weight", "attn.out.bias")
    fc = ("mlp.fc1.weight", "mlp.fc1.bias", "mlp.fc2.weight", "mlp.fc2.bias")
    for i in range(layers):
        x = branch(x, f"blocks.{i}.", "norm1", attention, attn, heads)
        x = branch(x, f"blocks.{i}.", "norm2", mlp, fc)
        unit = x / np.linalg.norm(x, axis=-1, keepdims=True)
        cosines = unit @ unit.transpose(0, 2, 1)
        N = config.tokens
        alike.append((cosines.sum() - 4 * N) / (4 * N * (N - 1)))
    sent = rng.normal(size=x.shape)
    sent /= np.linalg.norm(sent)
    g, size, direction = sent, [1.0], [1.0]
    for number, (norm_cache, cache) in enumerate(reversed(caches)):
        d = (mlp_backward, attention_backward)[number % 2](g, cache)[0]
        if normalised:
            d = layer_norm_backward(d, norm_cache)[0]
        g = g + d if residual else d
        if number % 2:
            size.append(np.linalg.norm(g))
            direction.append((g * sent).sum() / size[-1])
    return np.array(size), np.array(alike), np.array(direction), x.std()


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
        size, alike, direction, deviation = sizes(residual, normalised)
        axes.curve(range(25), size, colour, 2.5)
        ends.append((24, size[-1], name, colour))
        print(
            f"{name:24} size {size[-1]:.2g}   tokens alike after 6, 12: {alike[5]:.3f} {alike[11]:.3f}   "
            f"direction after 12: {direction[12]:.2f}   deviation of the stream {deviation:.2g}"
        )
    axes.label_ends(ends, 13, 12)
    sheet.save(HERE / "depth.png")


if __name__ == "__main__":
    draw_block()
    draw_depth()
