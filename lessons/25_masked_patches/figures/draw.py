"""Draw this lesson's figures: python -m lessons.25_masked_patches.figures.draw

learned.png and curve.png are drawn from experiment.json, which experiment.py writes.
"""

import json
from pathlib import Path

import numpy as np

from lessons.drawing import AXIS, BLUE, FAINT, GREEN, INK, ORANGE, QUIET, RED, Axes, Sheet
from lessons.star import star
from tinyvit.data.shapes import make_shapes
from tinyvit.objectives.patch_targets import class_colours, colour_classes
from tinyvit.ops import Noise, draw_corruption, patchify, unpatchify
from tinyvit.ops.corruption import MASKED

HERE = Path(__file__).parent
SIDE = 8  # patches of 4 x 4 pixels
GREY = 150
BEST_CONSTANT = 4.92  # printed in the text


def main():
    draw_guess()
    draw_corruption_of_the_star()
    found = json.loads((HERE / "experiment.json").read_text("utf-8"))
    draw_learned(found)
    draw_curve(found)


def draw_guess():
    """A hidden patch of the star, the mean of what lies around it, the commonest of that, and what it is."""
    row, column, scale = 1, 3, 8
    means = star().reshape(SIDE, 4, SIDE, 4, 3).mean(axis=(1, 3))
    places = [(row + r - 1, column + c - 1) for r, c in np.ndindex(3, 3) if (r, c) != (1, 1)]
    near = colour_classes(np.array([means[place] for place in places]))
    values, counts = np.unique(near, return_counts=True)
    sheet = Sheet(760, 262)
    sheet.image(20, 20, hidden(star(), [row * SIDE + column]), 32 * scale - 34)
    step = (32 * scale - 34) / SIDE
    sheet.text(20 + (column + 0.5) * step, 20 + (row + 0.5) * step, "?", 20, INK)
    swatch, left, top = 40, 284, 70
    sheet.text(left + 1.5 * swatch, top - 22, "around it", 14, INK)
    for place, colour in zip(places, near, strict=True):
        x, y = left + (place[1] - column + 1) * swatch, top + (place[0] - row + 1) * swatch
        sheet.rectangle(x, y, swatch, swatch, hexadecimal(class_colours(colour)), FAINT)
        sheet.text(x + swatch / 2, y + swatch / 2, str(colour), 11, INK)
    sheet.text(left + 1.5 * swatch, top + 1.5 * swatch, "?", 18, INK)
    mean = colour_classes(np.mean([means[place] for place in places], axis=0))
    truth = colour_classes(means[row, column])
    guesses = (
        ("their mean", mean, RED),
        ("the commonest", values[counts.argmax()], GREEN),
        ("what it is", truth, INK),
    )
    for number, (name, colour, ink) in enumerate(guesses):
        x, big = 454 + 102 * number, 80
        sheet.text(x + big / 2, top - 22, name, 14, ink)
        sheet.rectangle(x, top + 20, big, big, hexadecimal(class_colours(colour)), FAINT)
        sheet.text(x + big / 2, top + 20 + big / 2, str(colour), 14, INK)
    sheet.text(598, 222, "The numbers are the colours' classes, 0 to 511.", 13, QUIET)
    sheet.save(HERE / "guess.png")


def draw_corruption_of_the_star():
    """The star, what a model is shown of it, and the colours that it is asked for."""
    chosen, source = (part[0] for part in draw_corruption(Noise(0, 11), 1, SIDE * SIDE, 0.5, np))
    sheet = Sheet(760, 310)
    size, top = 216, 46
    step = size / SIDE
    colours = class_colours(colour_classes(star().reshape(SIDE, 4, SIDE, 4, 3).mean(axis=(1, 3))))
    asked = np.full((SIDE * SIDE, 3), 255, np.uint8)
    asked[chosen] = colours.reshape(-1, 3)[chosen]
    panels = (
        ("the picture", star()),
        ("what the model sees", shown(star(), source)),
        ("what it is asked for", asked.reshape(SIDE, SIDE, 3)),
    )
    for number, (title, picture) in enumerate(panels):
        left = 30 + 242 * number
        sheet.text(left + size / 2, 24, title, 15, INK)
        sheet.image(left, top, picture, size)
        sheet.line([(left, top), (left + size, top), (left + size, top + size)], FAINT, 1)
        sheet.line([(left, top), (left, top + size), (left + size, top + size)], FAINT, 1)
    for patch in chosen:
        x, y = 272 + step * (patch % SIDE), top + step * (patch // SIDE)
        if source[patch] == MASKED:
            sheet.text(x + step / 2, y + step / 2, "m", 12, "#ffffff")
        else:
            outline(sheet, x + 1.5, y + 1.5, step - 3, GREEN if source[patch] == patch else ORANGE)
    kinds = (
        (f"m: the mask token, {(source[chosen] == MASKED).sum()} of 32", QUIET),
        (f"another patch, {((source[chosen] != MASKED) & (source[chosen] != chosen)).sum()}", ORANGE),
        (f"kept, {(source[chosen] == chosen).sum()}", GREEN),
    )
    for (text, ink), x in zip(kinds, (272, 468, 610), strict=True):
        sheet.text(x, 286, text, 13, ink, "lm")
    sheet.save(HERE / "corruption.png")


def draw_learned(found):
    """Pictures that were held out, what the model was shown, what it said, and what would have been right."""
    pictures = make_shapes(test=1000).test.images
    sheet = Sheet(786, 484)
    size, gap = 102, 9
    names = ("the picture", "what it is shown", "what it says", "what is right")
    for line, name in enumerate(names):
        for column, (chosen, source, said) in enumerate(
            zip(found["chosen"], found["source"], found["said"], strict=True)
        ):
            chosen, picture = np.array(chosen), pictures[column]
            means = picture.reshape(SIDE, 4, SIDE, 4, 3).mean(axis=(1, 3))
            right = colour_classes(means).reshape(-1)
            if line:
                picture = shown(picture, np.array(source))
            if line > 1:
                picture = filled(picture, chosen, np.array(said) if line == 2 else right[chosen])
            x, y = 112 + column * (size + gap), 22 + line * (size + gap)
            sheet.image(x, y, picture, size)
        sheet.text(104, 22 + size / 2 + line * (size + gap), name, 12, INK, "rm")
    right = 100 * found["held out"]["masked"]
    words = f"On 1,000 pictures held out, it names {right:.0f} % of the masked colours right."
    sheet.text(440, 470, words, 13, QUIET)
    sheet.save(HERE / "learned.png")


def draw_curve(found):
    """The loss of pre-training, and the accuracies after fine-tuning."""
    losses = np.array(found["losses"])
    smooth, steps = losses.reshape(-1, 25).mean(axis=1), len(losses)
    sheet = Sheet(780, 320)
    sheet.text(56, 24, "pre-training without labels: the loss", 14, INK, "lm")
    axes = Axes(sheet, (56, 50, 380, 262), (1, steps), (0, 7))
    axes.frame(AXIS)
    axes.y_ticks(range(8), grid=False)
    axes.x_ticks((1, 1000, 2000, 3000, 4000, steps))
    axes.x_name("step")
    for level in (np.log(512), BEST_CONSTANT):
        axes.curve((1, steps), (level, level), QUIET, 1, dashed=True)
    axes.curve(25 * np.arange(len(smooth)) + 13, smooth, BLUE)
    axes.label_ends(
        [
            (steps, np.log(512), "log 512 = 6.24", QUIET),
            (steps, BEST_CONSTANT, f"always the same: {BEST_CONSTANT}", QUIET),
            (steps, float(smooth[-1]), f"{smooth[-1]:.2f}", BLUE),
        ]
    )
    sheet.text(540, 24, "then 500 labels: right on test", 14, INK, "lm")
    axes = Axes(sheet, (570, 50, 750, 262), (0, 1), (0, 80))
    axes.frame(AXIS)
    axes.y_ticks(range(0, 81, 20), [f"{share} %" for share in range(0, 81, 20)], grid=True)
    axes.curve((0, 1), (10, 10), QUIET, 1, dashed=True)
    for x, (start, name, colour) in zip(
        (0.25, 0.75),
        (("fresh", "from scratch", ORANGE), ("pretrained", "pre-trained", GREEN)),
        strict=True,
    ):
        for seed in found["tuned"][start]:
            sheet.dot(axes.place(x, 100 * seed["right"]), 5, colour)
        sheet.text(axes.place(x, 0)[0], 282, name, 13, colour)
    sheet.save(HERE / "curve.png")


def shown(picture, source):
    """A picture as a model sees it: each position with the patch that source names, grey where masked."""
    patches, _ = patchify(picture[None], 4)  # (1, 64, 48)
    seen = patches[:, np.maximum(source, 0)]
    seen[:, source == MASKED] = GREY
    return unpatchify(seen, (1, *picture.shape), 4)[0]


def hidden(picture, chosen):
    """A picture with the chosen patches in grey."""
    source = np.arange(SIDE * SIDE)
    source[chosen] = MASKED
    return shown(picture, source)


def filled(picture, chosen, classes):
    """A picture with the chosen patches in plain colours."""
    patches, _ = patchify(picture[None], 4)
    patches = patches.copy()
    patches[0, chosen] = np.tile(class_colours(classes), (1, 16))
    return unpatchify(patches, (1, *picture.shape), 4)[0]


def outline(sheet, x, y, size, colour):
    """An empty square."""
    corners = [(x, y), (x + size, y), (x + size, y + size), (x, y + size), (x, y)]
    sheet.line(corners, colour, 2.5)


def hexadecimal(colour):
    """#rrggbb of a colour (3,) uint8."""
    return "#" + "".join(f"{value:02x}" for value in colour.tolist())


if __name__ == "__main__":
    main()
