"""Draw this lesson's figures: python -m lessons.00_pixels.figures.draw [RUN]

RUN is the folder of a training run on the shapes, such as runs/shapes-1. Without it only shapes.png is drawn.
"""

import sys
from pathlib import Path

import numpy as np

import tinyvit
from lessons.drawing import INK, PAPER, QUIET, Sheet
from tinyvit.data.shapes import make_shapes
from tinyvit.pictures.colours import heat_colours

FOLDER = Path(__file__).parent


def main(arguments):
    data = make_shapes(train=200, test=2000, seed=0)
    draw_shapes(data)
    if arguments:
        draw_attention(data, tinyvit.load(arguments[0]))


def draw_shapes(data):
    """Four training images of every class, under its name."""
    sheet = Sheet(690, 290)
    for label, name in enumerate(data.classes):
        left = 20 + 65.5 * label
        sheet.text(left + 30, 16, name, 12, INK)
        for row, number in enumerate(np.flatnonzero(data.train.labels == label)[:4]):
            sheet.image(left, 28 + 65.5 * row, data.train.images[number], 60)
    sheet.save(FOLDER / "shapes.png")


def draw_attention(data, model):
    """Test images, their patches, and what the class token of a trained model draws from each patch."""
    chosen = [np.flatnonzero(data.test.labels == data.classes.index(name))[0] for name in SHOWN]
    images = data.test.images[chosen]
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


SHOWN = ("star", "heart", "ring", "crescent", "cross", "triangle")

if __name__ == "__main__":
    main(sys.argv[1:])
