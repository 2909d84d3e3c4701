"""Draw this lesson's figures: python -m lessons.00_pixels.figures.draw [RUN]

RUN is the folder of a training run on the shapes, such as runs/shapes-1: then only attention.png is drawn.
Without it all the others are.
"""

import importlib
import sys
from pathlib import Path

import numpy as np

import tinyvit
from lessons.drawing import AXIS, BLUE, GREEN, INK, PAPER, QUIET, RED, Sheet
from lessons.star import star
from tinyvit.data import normalise
from tinyvit.data.shapes import CLASSES, DISTANCES, make_shapes
from tinyvit.insight.pictures.colours import heat_colours

FOLDER = Path(__file__).parent
solution = importlib.import_module("lessons.00_pixels.solution")

ROW, COLUMN = 22, 21  # the pixel that is looked at
TOP, LEFT, WINDOW = 18, 17, 10  # the window around the green star
SHOWN = ("star", "heart", "ring", "crescent", "cross", "triangle")


def main(arguments):
    if arguments:
        draw_attention(tinyvit.load(arguments[0]))
        return
    draw_shapes()
    draw_star()
    draw_templates()


def draw_attention(model):
    """Test images, their patches, and what the class token of a trained model draws from each patch."""
    test = make_shapes(train=200, test=2000, seed=0).test
    images = test.images[[np.flatnonzero(test.labels == CLASSES.index(name))[0] for name in SHOWN]]
    answers, attention = model.predict(images), model.attention_map(images)

    sheet = Sheet(690, 400)
    titles = ("an image of 32 x 32 pixels", "cut into 64 patches", "where the trained model looks")
    for row, title in enumerate(titles):
        sheet.text(20, 16 + 122 * row, title, 13, INK, "lm")
    for column, (image, drawn, answer) in enumerate(zip(images, attention, answers, strict=True)):
        left = 20 + 111 * column
        sheet.image(left, 28, image, 95)
        sheet.image(left, 150, image, 95)
        for line in range(9):
            at = 95 * line / 8
            sheet.line([(left + at, 150), (left + at, 245)], PAPER, 1)
            sheet.line([(left, 150 + at), (left + 95, 150 + at)], PAPER, 1)
        sheet.image(left, 272, heat_colours(drawn / drawn.max()), 95)
        sheet.text(left + 47.5, 380, f"says: {answer}", 12, QUIET)
    sheet.save(FOLDER / "attention.png")


def draw_shapes():
    """Four training images of every class, under its name."""
    train = make_shapes(train=200, test=2000, seed=0).train
    sheet = Sheet(690, 290)
    for label, name in enumerate(CLASSES):
        left = 20 + 65.5 * label
        sheet.text(left + 30, 16, name, 12, INK)
        for row, number in enumerate(np.flatnonzero(train.labels == label)[:4]):
            sheet.image(left, 28 + 65.5 * row, train.images[number], 60)
    sheet.save(FOLDER / "shapes.png")


def draw_star():
    """The star, a window of it enlarged, and one pixel as bytes and as normalised numbers."""
    sheet = Sheet(690, 270)
    picture = star()
    size, side = 200, 200
    cell, pixel = side / WINDOW, size / 32
    for left, title in ((20, "32 x 32 pixels"), (262, "ten by ten of them"), (504, "one pixel")):
        sheet.text(left, 18, title, 14, INK, "lm")
    sheet.image(20, 36, picture, size)
    sheet.image(262, 36, picture[TOP : TOP + WINDOW, LEFT : LEFT + WINDOW], side)
    corner = 20 + LEFT * pixel, 36 + TOP * pixel
    frame(sheet, *corner, WINDOW * pixel, INK)
    for end, down in ((36, 0), (36 + side, WINDOW * pixel)):
        sheet.line([(corner[0] + WINDOW * pixel, corner[1] + down), (262, end)], AXIS, 1)
    at = 262 + (COLUMN - LEFT) * cell, 36 + (ROW - TOP) * cell
    frame(sheet, *at, cell, INK)
    numbers = normalise(picture, np.float64)[ROW, COLUMN]
    sheet.rectangle(504, 36, 60, 60, "#{:02x}{:02x}{:02x}".format(*picture[ROW, COLUMN]))
    sheet.line([(at[0] + cell, at[1]), (504, 36)], AXIS, 1)
    sheet.line([(at[0] + cell, at[1] + cell), (504, 96)], AXIS, 1)
    sheet.text(574, 57, f"row {ROW}", 13, QUIET, "lm")
    sheet.text(574, 76, f"column {COLUMN}", 13, QUIET, "lm")
    for x, title in ((610, "byte"), (670, "number")):
        sheet.text(x, 124, title, 13, QUIET, "rm")
    for line, (name, colour) in enumerate((("red", RED), ("green", GREEN), ("blue", BLUE))):
        y = 152 + 32 * line
        sheet.text(504, y, name, 15, colour, "lm")
        sheet.text(610, y, str(picture[ROW, COLUMN, line]), 15, INK, "rm")
        sheet.text(670, y, f"{numbers[line]:.3f}", 15, INK, "rm")
    sheet.text(345, 256, "0 becomes -1, and 255 becomes 1.", 13, QUIET)
    sheet.save(FOLDER / "star.png")


def draw_templates():
    """The mean pictures of centred shapes, of moved ones, and of the course's own."""
    data = make_shapes(train=1000, test=20, seed=0)
    own = normalise(data.train.images, np.float64).mean(axis=3).reshape(1000, -1), data.train.labels
    rows = (
        (silhouettes(0), "in the middle"),
        (silhouettes(6), "up to 6 pixels off the middle"),
        (own, "the course's own pictures, in grey"),
    )
    sheet = Sheet(690, 346)
    for row, ((pixels, labels), title) in enumerate(rows):
        weight, _ = solution.mean_templates(pixels, labels, 10)
        sheet.text(20, 20 + 100 * row, title, 13, INK, "lm")
        for label, name in enumerate(CLASSES):
            left = 20 + 65.5 * label
            sheet.image(left, 32 + 100 * row, as_picture(weight[:, label].reshape(32, 32)), 60)
            if row == 2:
                sheet.text(left + 30, 304, name, 12, INK)
    sheet.text(345, 332, "The mean picture of each class: black is -1, white is 1.", 12, QUIET)
    sheet.save(FOLDER / "templates.png")


def silhouettes(reach, count=1000):
    """One shape an image, as in the text: rows (n, 1024) and labels."""
    rng = np.random.default_rng(0)
    pixel = np.arange(32) - 15.5
    labels = rng.permutation(np.arange(count) % 10)
    images = np.empty((count, 32, 32))
    for image, label in zip(images, labels, strict=True):
        right, down = rng.integers(-reach, reach + 1, 2)
        radius = rng.uniform(8, 10)
        x, y = (pixel - right)[None, :] / radius, -(pixel - down)[:, None] / radius
        image[:] = 2 * (0.5 - DISTANCES[CLASSES[label]](x, y) * radius).clip(0, 1) - 1
    return images.reshape(count, -1), labels


def frame(sheet, x, y, side, colour):
    """The outline of a square."""
    sheet.line([(x, y), (x + side, y), (x + side, y + side), (x, y + side), (x, y)], colour, 1.5)


def as_picture(template):
    """Numbers from -1 to 1 as bytes."""
    return (127.5 + 127.5 * template.clip(-1, 1)).astype(np.uint8)


if __name__ == "__main__":
    main(sys.argv[1:])
