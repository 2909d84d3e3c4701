"""Draw this lesson's figures: python -m lessons.04_gelu_mlp.figures.draw (two minutes: it trains)"""

from importlib import import_module
from pathlib import Path

import numpy as np

from lessons.drawing import BLUE, INK, ORANGE, QUIET, Axes, Sheet
from tinyvit.ops import cross_entropy, cross_entropy_backward, gelu, gelu_backward, mlp, mlp_backward

HERE = Path(__file__).parent


def main():
    draw_bends().save(HERE / "gelu.png")
    draw_difference().save(HERE / "forms.png")
    four = import_module("lessons.03_linear.figures.draw")
    data = four.tasks()
    linear = [four.linear_accuracy(*task) for task in data]
    bent = [mlp_accuracy(*task) for task in data]
    four.draw_wall(data, {"linear": (QUIET, linear), "MLP": (BLUE, bent)}).save(HERE / "wall.png")


def draw_bends():
    """ReLU and GELU on the left, their slopes on the right."""
    sheet = Sheet(760, 320)
    x = np.linspace(-4, 4, 401)
    y, cache = gelu(x)
    slope = gelu_backward(np.ones_like(x), cache)

    sheet.text(210, 24, "the function", 15, INK)
    axes = Axes(sheet, (50, 48, 370, 278), (-4, 4), (-0.5, 3))
    draw_grid(axes, (0, 1, 2, 3))
    low = x <= 3
    axes.curve(x[low], x[low].clip(0), QUIET, 2)
    axes.curve(x[low], y[low], BLUE, 2.5)
    axes.text(1.45, 1.75, "ReLU", QUIET, anchor="rm")
    axes.text(-0.9, -0.36, "GELU", BLUE)

    sheet.text(580, 24, "its slope", 15, INK)
    axes = Axes(sheet, (425, 48, 735, 278), (-4, 4), (-0.5, 1.5))
    draw_grid(axes, (-0.5, 0, 0.5, 1, 1.5))
    axes.curve((-4, 0), (0, 0), QUIET, 2)
    axes.curve((0, 4), (1, 1), QUIET, 2)
    for height in (0, 1):
        sheet.dot(axes.place(0, height), 4, QUIET)
    axes.curve(x, slope, BLUE, 2.5)
    axes.text(-0.2, 1.12, "ReLU jumps", QUIET, anchor="rm")
    axes.text(1.2, 1.27, "GELU climbs", BLUE)
    return sheet


def draw_difference():
    """The tanh form less the exact form, values and slopes, with a label at each curve."""
    sheet = Sheet(760, 300)
    x = np.linspace(-5, 5, 401)
    (y, cache), (y_exact, cache_exact) = gelu(x, "tanh"), gelu(x, "exact")
    ones = np.ones_like(x)
    slope = gelu_backward(ones, cache) - gelu_backward(ones, cache_exact)
    sheet.text(395, 24, "tanh form minus exact form", 15, INK)
    axes = Axes(sheet, (80, 46, 640, 260), (-5, 5), (-0.001, 0.001))
    axes.x_ticks(range(-4, 5, 2), grid=True)
    axes.y_ticks((-0.001, -0.0005, 0, 0.0005, 0.001))
    axes.curve(axes.x_range, (0, 0), QUIET, 1)
    axes.curve(x, slope, ORANGE, 2)
    axes.curve(x, y - y_exact, BLUE, 2)
    axes.text(2.45, 0.00078, "difference of the slopes", ORANGE)
    axes.text(3.45, 0.0003, "difference of the values", BLUE)
    return sheet


def draw_grid(axes, ticks):
    """Lines across at the ticks of y and at every other whole number of x, darker where either is 0."""
    axes.x_ticks(range(-4, 5, 2), grid=True)
    axes.y_ticks(ticks)
    axes.curve(axes.x_range, (0, 0), "#b8bec9", 1)
    axes.curve((0, 0), axes.y_range, "#b8bec9", 1)


def mlp_accuracy(x, labels, x_new, labels_new, epochs=32, rate=0.05, units=64):
    """The training of the lesson; the share of new pictures that are right."""
    rng = np.random.default_rng(0)
    parameters = [
        rng.normal(size=(3072, units)) / 3072**0.5,
        np.zeros(units),
        rng.normal(size=(units, 10)) / units**0.5,
        np.zeros(10),
    ]
    for _ in range(epochs):
        order = rng.permutation(len(x))
        for start in range(0, len(x), 100):
            batch = order[start : start + 100]
            scores, cache = mlp(x[batch], *parameters)
            dscores = cross_entropy_backward(cross_entropy(scores, labels[batch])[1])
            for parameter, gradient in zip(parameters, mlp_backward(dscores, cache)[1:], strict=True):
                parameter -= rate * gradient
    return (mlp(x_new, *parameters)[0].argmax(axis=1) == labels_new).mean()


if __name__ == "__main__":
    main()
