"""Draw this lesson's figures: python -m lessons.11_block.figures.draw"""

from pathlib import Path

import numpy as np

from lessons.drawing import BLUE, GREEN, ORANGE, QUIET, RED, Axes, Sheet
from tinyvit.model import ViTConfig, initialise
from tinyvit.ops import attention, attention_backward, layer_norm, layer_norm_backward, mlp, mlp_backward

HERE = Path(__file__).parent


def draw_block():
    sheet = Sheet(760, 250)
    road, branch = 80, 160
    sheet.text(30, road, "x", 17)
    sheet.text(730, road, "y", 17)
    for left, name, colour in ((60, "attention", "#dce8fb"), (390, "MLP", "#fbe7d3")):
        sheet.line([(left + 14, road), (left + 14, branch)], QUIET)
        sheet.arrow((left + 14, branch), (left + 42, branch), QUIET)
        sheet.labelled_box(left + 46, branch - 20, 92, 40, "LayerNorm")
        sheet.arrow((left + 140, branch), (left + 166, branch), QUIET)
        sheet.labelled_box(left + 170, branch - 20, 92, 40, name, colour)
        sheet.line([(left + 264, branch), (left + 285, branch)], QUIET)
        sheet.arrow((left + 285, branch), (left + 285, road + 14), QUIET)
    sheet.arrow((46, road), (332, road), BLUE, 3)
    sheet.arrow((358, road), (662, road), BLUE, 3)
    sheet.arrow((688, road), (716, road), BLUE, 3)
    for x in (332, 662):
        sheet.labelled_box(x, road - 13, 26, 26, "+", "#ffffff", 17)
    sheet.text(382, road - 16, "x'", 15)
    sheet.text(190, road - 18, "residual stream", 13, BLUE)
    sheet.text(190, 212, "tokens talk to each other", 12, QUIET)
    sheet.text(560, 212, "each token for itself", 12, QUIET)
    sheet.save(HERE / "block.png")


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
