"""Draw this lesson's figure: python -m lessons.02_gradient_checking.figures.draw"""

from pathlib import Path

import numpy as np

from lessons.drawing import BLUE, GREEN, INK, ORANGE, QUIET, Axes, Sheet

FRAME = (80, 40, 640, 320)
STEPS = (-13.0, 0.0)  # powers of ten
ERRORS = (-13.0, 1.0)


def main():
    sheet = Sheet(690, 394)
    axes = Axes(sheet, FRAME, STEPS, ERRORS)
    ticks = range(-12, 1, 3)
    labels = ["1" if power == 0 else f"1e{power}" for power in ticks]
    axes.x_ticks(ticks, labels, 12, grid=True)
    axes.y_ticks(ticks, labels, 12)
    axes.frame()
    axes.curve((-5, -5), ERRORS, INK, 1)
    x, top = axes.place(-5, ERRORS[1])
    sheet.text(x, top - 10, "the step we use", 12, INK)

    powers = np.linspace(*STEPS, 105)
    curves = (
        (np.float32, central, ORANGE, "float32, both sides", (-8.6, -0.6)),
        (np.float64, one_sided, GREEN, "float64, one side", (-2.5, -0.6)),
        (np.float64, central, BLUE, "float64, both sides", (-7.7, -11.2)),
    )
    for dtype, difference, colour, name, where in curves:
        errors = np.array([error(difference, dtype, 10.0**power) for power in powers])
        seen = errors < 10.0 ** ERRORS[1]
        axes.curve(powers[seen], np.log10(errors[seen]), colour, 2.5)
        axes.text(*where, name, colour, anchor="mm")
    axes.x_name("step h", 13)
    sheet.text(20, top - 10, "relative error of the slope of exp", 13, INK, "lm")
    sheet.text(345, 378, "Too far: the curve bends. Too near: the difference drowns in rounding.", 13, QUIET)
    sheet.save(Path(__file__).parent / "steps.png")


def error(difference, dtype, step):
    """Root mean square of the relative error over many places."""
    x = np.linspace(0.5, 1.5, 2000, dtype=dtype)
    slope = difference(x, dtype(step)).astype(np.float64)
    relative = slope / np.exp(x.astype(np.float64)) - 1
    return max(np.sqrt((relative * relative).mean()), 1e-13)


def one_sided(x, step):
    return (np.exp(x + step) - np.exp(x)) / step


def central(x, step):
    return (np.exp(x + step) - np.exp(x - step)) / (2 * step)


if __name__ == "__main__":
    main()
