"""Draw this lesson's figures: python -m lessons.09_optimisers.figures.draw"""

from pathlib import Path

import numpy as np

from lessons.drawing import BLUE, GREEN, INK, ORANGE, QUIET, RED, Axes, Sheet

STEEPNESS = np.array([1.0, 25.0])
START, STEPS = (-4.0, 1.0), 60  # as in the text
VALLEY = (20, 70, 410, 270)
X, Y = (-4.5, 1.7), (-1.45, 1.45)


def main():
    here = Path(__file__).parent
    draw_sizes().save(here / "sizes.png")
    sheet = Sheet(900, 330)
    draw_valley(sheet)
    draw_heights(sheet)
    sheet.save(here / "optimisers.png")


def draw_sizes():
    """The size of twelve layers' numbers, on a scale of powers of ten."""
    sheet = Sheet(560, 330)
    sheet.text(60, 30, "Same layers, three scales of weights", 15, INK, "lm")
    axes = Axes(sheet, (60, 70, 490, 270), (0, 12), (1e-4, 1e4), "y")
    axes.y_name("size of the numbers")
    axes.frame()
    axes.y_ticks((0.001, 1, 1000), ("0.001", "1", "1000"), grid=False)
    axes.x_ticks((0, 4, 8, 12))
    axes.x_name("layer")
    for deviation, colour, name in ((1 / 8, RED, "1/8"), (1 / 16, GREEN, "1/16"), (1 / 32, BLUE, "1/32")):
        rng = np.random.default_rng(0)
        x = rng.standard_normal(256)
        sizes = [x.std()]
        for _ in range(12):
            x = x @ rng.normal(0, deviation, (256, 256))
            sizes.append(x.std())
        axes.curve(range(13), sizes, colour)
        axes.label_ends([(12, sizes[-1], name, colour)], 13)
    return sheet


def draw_valley(sheet):
    """Contours of a narrow valley and three ways down."""
    axes = Axes(sheet, VALLEY, X, Y)
    left, top, right, bottom = VALLEY
    x, y = np.meshgrid(np.linspace(*X, 780), np.linspace(Y[1], Y[0], 400))
    height = np.sqrt((STEEPNESS[0] * x**2 + STEEPNESS[1] * y**2) / 2)
    bands = np.floor(height * 2) % 2
    grey = np.where(bands == 0, 255, 244).astype(np.uint8)
    sheet.image(left, top, grey, right - left)
    sheet.text(left, 30, "A valley 25 times steeper across than along", 15, INK, "lm")
    ends = []
    for kind, colour, name in KINDS:
        path = descend(kind)
        axes.curve(*np.transpose(path), colour, 1.8)
        ends.append((axes.place(*path[-1]), colour, name))
    for number, (end, colour, name) in enumerate(ends):
        radius = (5, 6.5, 3)[number]  # the ends of momentum and Adam lie one upon the other
        sheet.dot(end, radius, colour)
        sheet.text(left + (0, 62, 230)[number], bottom + 18, name, 13, colour, "lm")
    sheet.text(right, bottom + 18, f"{STEPS} steps each", 12, QUIET, "rm")
    across, down = axes.place(*START)
    sheet.dot((across, down), 4, INK)
    sheet.text(across + 9, down - 9, "start", 12, QUIET, "lm")


def draw_heights(sheet):
    """The height of each of the three above the bottom, after every step."""
    sheet.text(480, 30, "Height above the bottom of the valley", 15, INK, "lm")
    axes = Axes(sheet, (480, 70, 750, 270), (0, STEPS), (1e-3, 100), "y")
    axes.frame()
    axes.y_ticks((0.001, 0.01, 0.1, 1, 10, 100), ("0.001", "0.01", "0.1", "1", "10", "100"), grid=False)
    axes.x_ticks((0, 10, 20, 30, 40, 50, 60))
    axes.x_name("step")
    ends = []
    for kind, colour, name in KINDS:
        heights = (np.square(descend(kind)) * STEEPNESS).sum(axis=1) / 2
        axes.curve(range(STEPS + 1), np.maximum(heights, 1e-3), colour)
        ends.append((STEPS, max(float(heights[-1]), 1e-3), name, colour))
    axes.label_ends(ends, 13)


def descend(kind):
    """The points visited by an optimiser: kind(g, t, m, v) changes m, v and returns its step."""
    w, m, v = np.array(START), np.zeros(2), np.zeros(2)
    path = [w]
    for t in range(1, STEPS + 1):
        w = w - kind(STEEPNESS * w, t, m, v)
        path.append(w)
    return path


def sgd(g, t, m, v):
    return 0.02 * g


def momentum(g, t, m, v):
    m[:] = 0.9 * m + g
    return 0.02 * m


def adam(g, t, m, v):
    m[:] = 0.9 * m + 0.1 * g
    v[:] = 0.999 * v + 0.001 * g * g
    return 0.3 * (m / (1 - 0.9**t)) / (np.sqrt(v / (1 - 0.999**t)) + 1e-8)


KINDS = ((sgd, BLUE, "SGD"), (momentum, ORANGE, "SGD with momentum"), (adam, GREEN, "Adam"))

if __name__ == "__main__":
    main()
