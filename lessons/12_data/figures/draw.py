"""Draw this lesson's figures: python -m lessons.12_data.figures.draw"""

from pathlib import Path

import numpy as np

from lessons.drawing import BLUE, FAINT, GREEN, INK, ORANGE, PAPER, QUIET, RED, Axes, Sheet
from lessons.star import star
from tinyvit.data import crop_and_flip, draw_augmentation
from tinyvit.ops import Noise

HERE = Path(__file__).parent


def main():
    draw_many_ways()
    draw_drawn_again()
    draw_best_of()


def draw_many_ways():
    """The star picture on the left, eighteen windows on it on the right."""
    count, image = 18, star()
    down, right, flip = draw_augmentation(np.random.default_rng(3), count, 4)
    windows = crop_and_flip(image[None], np.zeros(count, dtype=int), down, right, flip)
    sheet = Sheet(780, 300)
    sheet.text(30, 28, "The image", 15, INK, "lm")
    sheet.image(30, 48, image, 200)
    sheet.text(270, 28, "What the model is shown", 15, INK, "lm")
    for i, window in enumerate(windows):
        left, top = 270 + 82 * (i % 6), 48 + 82 * (i // 6)
        sheet.image(left, top, window, 74)
    sheet.text(30, 268, "moved by up to four", 12, QUIET, "lm")
    sheet.text(30, 284, "pixels, and mirrored", 12, QUIET, "lm")
    sheet.save(HERE / "many_ways.png")


def draw_drawn_again():
    """A mask in the forward, from the cache, and drawn a second time: blue is kept, white is dropped."""
    images, rate, noise = 8, 0.4, Noise(seed=2, step=1)
    first, second = (noise.uniform((images, 1), np)[:, 0] >= rate for _ in range(2))
    rows = (
        ("forward", "y = x times the mask", first),
        ("backward, mask from the cache", "right: dy times the same mask", first),
        ("backward, drawn again", "wrong where the masks differ", second),
    )
    sheet = Sheet(700, 262)
    for i in range(images):
        sheet.text(282 + 54 * i, 26, f"image {i}", 11, QUIET)
    for number, (title, meaning, kept) in enumerate(rows):
        top = 44 + 68 * number
        sheet.text(24, top + 13, title, 14, INK, "lm")
        sheet.text(24, top + 33, meaning, 12, RED if number == 2 else QUIET, "lm")
        for i in range(images):
            left = 262 + 54 * i
            if kept[i] != first[i]:
                sheet.rectangle(left - 5, top - 3, 50, 50, RED)
                sheet.rectangle(left - 3, top - 1, 46, 46, PAPER)
            sheet.rectangle(left, top + 2, 40, 40, BLUE if kept[i] else PAPER, FAINT)
            label, colour = ("1.67", PAPER) if kept[i] else ("0", INK)
            sheet.text(left + 20, top + 22, label, 12, colour)
    sheet.text(
        24,
        248,
        "the number m of each image, at a rate of 0.4; framed: it differs",
        12,
        QUIET,
        "lm",
    )
    print("differ:", int((first != second).sum()))
    sheet.save(HERE / "drawn_again.png")


def draw_best_of():
    """The mean best score of k models that toss coins, from 4000 repetitions; k on a logarithmic axis."""
    models = np.arange(1, 51)
    sheet = Sheet(620, 286)
    sheet.text(70, 26, "The best of k models, all of which toss coins: its test accuracy, %", 15, INK, "lm")
    axes = Axes(sheet, (70, 56, 490, 226), (1, 50), (50, 58), logarithmic="x")
    axes.y_ticks((50, 52, 54, 56, 58))
    axes.frame()
    axes.x_ticks((1, 2, 5, 10, 20, 50))
    axes.x_name("k, the number of models to choose from (each step about twice as many)")
    ends = []
    for images, colour in ((200, ORANGE), (1000, BLUE), (10_000, GREEN)):
        scores = np.random.default_rng(0).binomial(images, 0.5, (4000, 50)) / images
        best = np.maximum.accumulate(scores, axis=1).mean(axis=0)
        best[0] = 0.5  # the mean of a single score, without the scatter of the repetitions
        axes.curve(models, 100 * best, colour)
        ends.append((50, 100 * best[-1], f"{images:,} images", colour))
    axes.label_ends(ends)
    sheet.save(HERE / "best_of.png")


if __name__ == "__main__":
    main()
