"""Draw this lesson's figures: python -m lessons.24_pictures_and_words.figures.draw

matrix.png is drawn from experiment.json, which experiment.py writes.
"""

import importlib
import json
from pathlib import Path

import numpy as np

from lessons.drawing import INK, QUIET, Sheet

HERE = Path(__file__).parent
pictures = importlib.import_module("lessons.24_pictures_and_words.pictures")
experiment = importlib.import_module("lessons.24_pictures_and_words.figures.experiment")


def main():
    draw_pictures()
    draw_matrix(json.loads(experiment.FOUND.read_text("utf-8")))


def draw_pictures():
    """Two rows of pictures as in the training, each with its caption."""
    images, captions, _ = pictures.draw(12, pictures.SHOWN, np.random.default_rng(1))
    sheet, side, step = Sheet(760, 276), 96, 124
    for i, (image, caption) in enumerate(zip(images, captions, strict=True)):
        x, y = 22 + step * (i % 6), 12 + 132 * (i // 6)
        sheet.image(x, y, image, side)
        sheet.text(x + side / 2, y + side + 14, caption, 11.5, INK)
    sheet.save(HERE / "pictures.png")


def draw_matrix(found):
    """The cosines of ten pictures of pairs that were never shown, and their captions: before and after."""
    images, captions = experiment.examples()
    sheet, cell, top, left = Sheet(760, 494), 30, 136, (56, 438)
    for x, name in zip(left, ("before", "after"), strict=True):
        width, height = sheet.grid(x, top, np.array(found[name]).round(1) + 0.0, cell, "{:.1f}", 1.0, 10)
        for i, (image, caption) in enumerate(zip(images, captions, strict=True)):
            sheet.image(x - cell - 2, top + i * cell + 1, image, cell - 2)
            sheet.text_upwards(x + (i + 0.5) * cell, top - 6, caption, 11.5, INK)
        sheet.text(x + width / 2, top + height + 18, f"{name} training", 13, INK)
    sheet.text(
        380, 478, "Blue: the same direction. White: a right angle. Orange: opposite directions.", 13, QUIET
    )
    sheet.save(HERE / "matrix.png")


if __name__ == "__main__":
    main()
