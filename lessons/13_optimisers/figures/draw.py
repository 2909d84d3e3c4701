"""Draw this lesson's figure: python -m lessons.13_optimisers.figures.draw"""

from pathlib import Path

import numpy as np

from lessons.drawing import BLUE, GREEN, INK, ORANGE, QUIET, RED, Sheet

STEEPNESS = np.array([1.0, 25.0])
START, STEPS = (-4.0, 1.0), 60
LEFT, TOP, WIDTH, HEIGHT = 400, 70, 390, 200  # of the valley
X, Y = (-4.5, 1.7), (-1.45, 1.45)


def main():
    sheet = Sheet(830, 330)
    draw_sizes(sheet)
    draw_valley(sheet)
    sheet.save(Path(__file__).parent / "optimisers.png")


def draw_sizes(sheet):
    """The size of twelve layers' numbers, on a scale of powers of ten."""
    sheet.text(60, 30, "Same layers, three scales of weights", 15, INK, "lm")
    sheet.text(60, 56, "size of the numbers", 12, INK, "lm")
    for power, label in ((3, "1000"), (0, "1"), (-3, "0.001")):
        sheet.text(54, 170 - 25 * power, label, 11, QUIET, "rm")
        sheet.line([(57, 170 - 25 * power), (60, 170 - 25 * power)], QUIET, 1)
    sheet.line([(60, 70), (60, 270), (316, 270)], QUIET, 1)
    for across, label, anchor in ((60, "0", "lm"), (316, "12", "rm")):
        sheet.text(across, 282, label, 11, QUIET, anchor)
    sheet.text(188, 282, "layer", 12, INK)
    for deviation, colour, name in ((1 / 8, RED, "1/8"), (1 / 16, GREEN, "1/16"), (1 / 32, BLUE, "1/32")):
        rng = np.random.default_rng(0)
        x = rng.standard_normal(256)
        sizes = [x.std()]
        for _ in range(12):
            x = x @ rng.normal(0, deviation, (256, 256))
            sizes.append(x.std())
        points = zip(60 + 256 / 12 * np.arange(13), 170 - 25 * np.log10(sizes), strict=True)
        sheet.line([tuple(map(float, point)) for point in points], colour, 2)
        sheet.text(324, float(170 - 25 * np.log10(sizes[-1])), name, 13, colour, "lm")


def draw_valley(sheet):
    """Contours of a narrow valley and three ways down."""
    x, y = np.meshgrid(np.linspace(*X, 780), np.linspace(Y[1], Y[0], 400))
    height = np.sqrt((STEEPNESS[0] * x**2 + STEEPNESS[1] * y**2) / 2)
    bands = np.floor(height * 2) % 2
    grey = np.where(bands == 0, 255, 244).astype(np.uint8)
    sheet.image(LEFT, TOP, grey, WIDTH)
    sheet.text(LEFT, 30, "A valley 25 times steeper across than along", 15, INK, "lm")
    for number, (kind, colour, name) in enumerate(
        ((sgd, BLUE, "SGD"), (momentum, ORANGE, "SGD with momentum"), (adam, GREEN, "Adam"))
    ):
        path = descend(kind)
        sheet.line([place(w) for w in path], colour, 1.8)
        across, down = place(path[-1])
        sheet.box(across - 4, down - 4, 8, 8, colour, colour)
        sheet.text(LEFT + (0, 62, 230)[number], TOP + HEIGHT + 18, name, 13, colour, "lm")
    sheet.text(LEFT + WIDTH, TOP + HEIGHT + 18, f"{STEPS} steps each", 12, QUIET, "rm")
    across, down = place(START)
    sheet.box(across - 4, down - 4, 8, 8, INK, INK)
    sheet.text(across + 9, down - 9, "start", 12, QUIET, "lm")


def place(w):
    """Where a point of the valley lies on the sheet."""
    return LEFT + WIDTH * (w[0] - X[0]) / (X[1] - X[0]), TOP + HEIGHT * (Y[1] - w[1]) / (Y[1] - Y[0])


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


if __name__ == "__main__":
    main()
