"""Draw this lesson's figure: python -m lessons.05_gelu_mlp.figures.draw"""

from pathlib import Path

import numpy as np

from lessons.drawing import BLUE, INK, ORANGE, QUIET, Axes, Sheet
from tinyvit.ops import gelu, gelu_backward


def main():
    sheet = Sheet(760, 340)
    x = np.linspace(-4, 4, 400)
    y, slope = {}, {}
    for form in ("exact", "tanh"):
        y[form], cache = gelu(x, form)
        slope[form] = gelu_backward(np.ones_like(x), cache)

    sheet.text(220, 24, "GELU and its slope, both forms", 15, INK)
    axes = Axes(sheet, (50, 48, 390, 278), (-4, 4), (-0.5, 3))
    draw_grid(axes, (0, 1, 2, 3))
    for values, dark, pale in ((y, BLUE, "#bcd2f6"), (slope, ORANGE, "#f6d9ba")):
        shown = values["exact"] <= 3
        some = np.append(np.flatnonzero(shown)[::10], np.flatnonzero(shown)[-1])
        axes.curve(x[some], values["exact"][some], pale, 7)
        axes.curve(x[shown], values["tanh"][shown], dark, 2)
    axes.text(1.15, 2.55, "GELU", BLUE)
    axes.text(-1.2, 0.62, "slope", ORANGE)

    sheet.text(590, 24, "tanh form less exact form", 15, INK)
    axes = Axes(sheet, (460, 48, 730, 278), (-4, 4), (-0.0009, 0.0009))
    draw_grid(axes, (-0.0008, -0.0004, 0, 0.0004, 0.0008))
    axes.curve(x, slope["tanh"] - slope["exact"], ORANGE, 2)
    axes.curve(x, y["tanh"] - y["exact"], BLUE, 2)
    sheet.text(
        380,
        322,
        "Pale and broad the exact form, dark and thin the tanh form: the difference shows only magnified.",
        13,
        QUIET,
    )
    sheet.save(Path(__file__).parent / "gelu.png")


def draw_grid(axes, ticks):
    """Lines across at the ticks of y and at every other whole number of x, darker where either is 0."""
    axes.x_ticks(range(-4, 5, 2), grid=True)
    axes.y_ticks(ticks)
    axes.curve(axes.x_range, (0, 0), QUIET, 1)
    axes.curve((0, 0), axes.y_range, QUIET, 1)


if __name__ == "__main__":
    main()
