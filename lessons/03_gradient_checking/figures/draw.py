"""Draw this lesson's figure: python -m lessons.03_gradient_checking.figures.draw"""

from pathlib import Path

import numpy as np

from lessons.drawing import BLUE, FAINT, GREEN, INK, ORANGE, QUIET, Sheet

LEFT, TOP, WIDTH, HEIGHT = 80, 40, 560, 280
STEPS = (-13.0, 0.0)  # powers of ten
ERRORS = (-13.0, 1.0)


def main():
    sheet = Sheet(690, 394)
    for power in range(-12, 1, 3):
        x, y = place(power, power)
        sheet.line([(x, TOP), (x, TOP + HEIGHT)], FAINT, 1)
        sheet.line([(LEFT, y), (LEFT + WIDTH, y)], FAINT, 1)
        sheet.text(x, TOP + HEIGHT + 14, power_of_ten(power), 12, QUIET)
        sheet.text(LEFT - 8, y, power_of_ten(power), 12, QUIET, "rm")
    sheet.line([(LEFT, TOP), (LEFT, TOP + HEIGHT), (LEFT + WIDTH, TOP + HEIGHT)], QUIET, 1)
    x, _ = place(-5, 0)
    sheet.line([(x, TOP), (x, TOP + HEIGHT)], INK, 1)
    sheet.text(x, TOP - 10, "the step we use", 12, INK)

    powers = np.linspace(*STEPS, 105)
    curves = (
        (np.float32, central, ORANGE, "float32, both sides", (-8.6, -0.6)),
        (np.float64, one_sided, GREEN, "float64, one side", (-2.5, -0.6)),
        (np.float64, central, BLUE, "float64, both sides", (-7.7, -11.2)),
    )
    for dtype, difference, colour, name, where in curves:
        errors = np.array([error(difference, dtype, 10.0**power) for power in powers])
        seen = errors < 10.0 ** ERRORS[1]
        points = [place(p, np.log10(e)) for p, e in zip(powers[seen], errors[seen], strict=True)]
        sheet.line(points, colour, 2.5)
        sheet.text(*place(*where), name, 13, colour, "mm")
    sheet.text(LEFT + WIDTH / 2, TOP + HEIGHT + 36, "step h", 13, INK)
    sheet.text(20, TOP - 10, "relative error of the slope of exp", 13, INK, "lm")
    sheet.text(345, 378, "Too far: the curve bends. Too near: the difference drowns in rounding.", 13, QUIET)
    sheet.save(Path(__file__).parent / "steps.png")


def place(step_power, error_power):
    """A point of the paper for powers of ten."""
    x = LEFT + WIDTH * (step_power - STEPS[0]) / (STEPS[1] - STEPS[0])
    y = TOP + HEIGHT * (ERRORS[1] - error_power) / (ERRORS[1] - ERRORS[0])
    return x, y


def power_of_ten(power):
    return "1" if power == 0 else f"1e{power}"


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
