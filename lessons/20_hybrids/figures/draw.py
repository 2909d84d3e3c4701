"""Draw this lesson's figures, the first one from measured.json: python -m lessons.20_hybrids.figures.draw"""

import json
from importlib import import_module
from pathlib import Path

from lessons.drawing import BLUE, ORANGE, PAPER, QUIET, Axes, Sheet
from lessons.star import star

HERE = Path(__file__).parent
MEASURE = import_module("lessons.20_hybrids.figures.measure")


def draw_shuffled():
    """The stars in order and shuffled, and what a ViT and a hybrid learn from either kind of picture."""
    sheet = Sheet(770, 290)
    for left, picture, name in (
        (20, star(), "in order"),
        (164, MEASURE.shuffled(star()[None])[0], "shuffled"),
    ):
        sheet.image(left, 74, picture, 128)
        sheet.text(left + 64, 56, name, 13)
    sheet.text(156, 222, "The same shuffle for every picture", 12, QUIET)
    rows = json.loads((HERE / "measured.json").read_text("utf-8"))
    axes = Axes(sheet, (390, 44, 640, 230), (250, 4800), (0, 1), "x")
    axes.y_name("right on 2,000 new pictures")
    axes.y_ticks((0, 0.25, 0.5, 0.75, 1), ("0", "25 %", "50 %", "75 %", "100 %"))
    axes.x_ticks(MEASURE.COUNTS, [f"{count:,}" for count in MEASURE.COUNTS])
    axes.x_name("pictures to learn from")
    axes.frame()
    ends = []
    for model, colour in (("ViT", BLUE), ("hybrid", ORANGE)):
        for is_shuffled in (False, True):
            means = []
            for count in MEASURE.COUNTS:
                seeds = [
                    row["accuracy"]
                    for row in rows
                    if (row["model"], row["shuffled"], row["count"]) == (model, is_shuffled, count)
                ]
                means.append(sum(seeds) / len(seeds))
                for accuracy in seeds:
                    sheet.dot(axes.place(count, accuracy), 2.5, colour)
            axes.curve(MEASURE.COUNTS, means, colour, dashed=is_shuffled)
            ends.append((4000, means[-1], f"{model}, shuffled" if is_shuffled else model, colour))
            print(f"{ends[-1][2]:18}", *(f"{mean:.1%}" for mean in means))
    axes.label_ends(ends, beside=24)
    sheet.save(HERE / "shuffled.png")


def draw_unit():
    """A bottleneck unit: its channels as heights, forward and backward."""
    sheet = Sheet(760, 296)
    middle = 172
    for x, height, name, channels in (
        (40, 120, "x", 256),
        (240, 30, "a", 64),
        (420, 30, "b", 64),
        (690, 120, "y", 256),
    ):
        sheet.box(x, middle - height / 2, 26, height, "#eef3fc", BLUE)
        sheet.text(x + 13, middle, name, 14)
        sheet.text(x + 13, middle + 74, f"{channels} channels", 11, QUIET)
    for start, end, name, weights in (
        (70, 236, "1 x 1, norm, ReLU", "16,384 weights"),
        (270, 416, "3 x 3, norm, ReLU", "36,864 weights"),
        (450, 608, "1 x 1, norm", "16,384 weights"),
        (632, 686, "ReLU", ""),
    ):
        sheet.arrow((start, middle - 8), (end, middle - 8), BLUE)
        sheet.arrow((end, middle + 8), (start, middle + 8), ORANGE)
        sheet.text((start + end) / 2, middle - 26, name, 12)
        sheet.text((start + end) / 2, middle + 28, weights, 11, QUIET)
    sheet.dot((620, middle), 11, BLUE)
    sheet.text(620, middle, "+", 15, PAPER)
    sheet.text(659, middle + 26, "dy", 12, ORANGE)
    sheet.text(594, middle + 26, "dz", 12, ORANGE)
    sheet.text(638, 92, "dz", 12, ORANGE)
    sheet.line([(57, 108), (57, 66), (616, 66)], BLUE)
    sheet.arrow((616, 66), (616, middle - 14), BLUE)
    sheet.line([(624, middle - 14), (624, 54), (47, 54)], ORANGE)
    sheet.arrow((47, 54), (47, 108), ORANGE)
    sheet.text(336, 36, "skip connection: x itself, or one convolution and its norm", 12)
    sheet.text(20, 276, "forward", 13, BLUE, "lm")
    sheet.text(86, 276, "backward: dz goes both ways, and what comes back is added at x", 13, ORANGE, "lm")
    sheet.save(HERE / "unit.png")


if __name__ == "__main__":
    draw_shuffled()
    draw_unit()
