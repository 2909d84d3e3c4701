"""Draw this lesson's figures: python -m lessons.15_data.figures.draw"""

from pathlib import Path

import numpy as np

from lessons.drawing import BLUE, GREEN, INK, ORANGE, QUIET, Axes, Sheet
from tinyvit.data import crop_and_flip, draw_augmentation
from tinyvit.data.shapes import CLASSES, make_shapes

HERE = Path(__file__).parent


def main():
    draw_many_ways()
    draw_best_of()


def draw_many_ways():
    """One image on the left, eighteen windows on it on the right."""
    data = make_shapes(train=200, test=1)
    number = int(np.flatnonzero(data.train.labels == CLASSES.index("heart"))[2])
    count = 18
    down, right, flip = draw_augmentation(np.random.default_rng(3), count, 4)
    windows = crop_and_flip(data.train.images, np.full(count, number), down, right, flip)
    sheet = Sheet(780, 300)
    sheet.text(30, 28, "The image", 15, INK, "lm")
    sheet.image(30, 48, data.train.images[number], 200)
    sheet.text(270, 28, "What the model is shown", 15, INK, "lm")
    for i, window in enumerate(windows):
        left, top = 270 + 82 * (i % 6), 48 + 82 * (i // 6)
        sheet.image(left, top, window, 74)
    sheet.text(30, 268, "moved by up to four", 12, QUIET, "lm")
    sheet.text(30, 284, "pixels, and mirrored", 12, QUIET, "lm")
    sheet.save(HERE / "many_ways.png")


def draw_best_of():
    """The mean best score of k models that toss coins, from 4000 repetitions."""
    models = np.arange(1, 51)
    sheet = Sheet(620, 276)
    sheet.text(70, 26, "The best of k models, all of which toss coins: its test accuracy, %", 15, INK, "lm")
    axes = Axes(sheet, (70, 56, 490, 226), (1, 50), (50, 58))
    axes.y_ticks((50, 52, 54, 56, 58))
    axes.frame()
    axes.x_ticks((1, 10, 20, 30, 40, 50))
    axes.x_name("number of models to choose from")
    ends = []
    for images, colour in ((200, ORANGE), (1000, BLUE), (10_000, GREEN)):
        scores = np.random.default_rng(0).binomial(images, 0.5, (4000, 50)) / images
        best = np.maximum.accumulate(scores, axis=1).mean(axis=0)
        axes.curve(models, 100 * best, colour)
        ends.append((50, 100 * best[-1], f"{images:,} images", colour))
    axes.label_ends(ends)
    sheet.save(HERE / "best_of.png")


if __name__ == "__main__":
    main()
