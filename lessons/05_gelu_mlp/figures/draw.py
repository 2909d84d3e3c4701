"""Draw this lesson's figure: python -m lessons.05_gelu_mlp.figures.draw"""

from pathlib import Path

import numpy as np

from lessons.drawing import BLUE, FAINT, INK, ORANGE, QUIET, Sheet
from tinyvit.ops import gelu, gelu_backward


class Axes:
    """A frame (left, top, width, height) in which points are given by their values."""

    def __init__(self, sheet, frame, x_range, y_range, y_ticks, form):
        self.sheet, self.frame, self.x_range, self.y_range = sheet, frame, x_range, y_range
        for y in y_ticks:
            sheet.line([self.at(x_range[0], y), self.at(x_range[1], y)], QUIET if y == 0 else FAINT, 1)
            sheet.text(frame[0] - 8, self.at(0, y)[1], form.format(y), 11, QUIET, "rm")
        for x in range(int(x_range[0]), int(x_range[1]) + 1, 2):
            sheet.line([self.at(x, y_range[0]), self.at(x, y_range[1])], QUIET if x == 0 else FAINT, 1)
            sheet.text(self.at(x, 0)[0], frame[1] + frame[3] + 13, str(x), 11, QUIET)

    def at(self, x, y):
        left, top, width, height = self.frame
        (x0, x1), (y0, y1) = self.x_range, self.y_range
        return float(left + width * (x - x0) / (x1 - x0)), float(top + height * (y1 - y) / (y1 - y0))

    def curve(self, xs, ys, colour, width):
        self.sheet.line([self.at(x, y) for x, y in zip(xs, ys, strict=True)], colour, width)

    def text(self, x, y, text, colour):
        self.sheet.text(*self.at(x, y), text, 13, colour, "lm")


def main():
    sheet = Sheet(760, 340)
    x = np.linspace(-4, 4, 400)
    y, slope = {}, {}
    for form in ("exact", "tanh"):
        y[form], cache = gelu(x, form)
        slope[form] = gelu_backward(np.ones_like(x), cache)

    sheet.text(220, 24, "GELU and its slope, both forms", 15, INK)
    axes = Axes(sheet, (50, 48, 340, 230), (-4, 4), (-0.5, 3), (0, 1, 2, 3), "{}")
    for values, dark, pale in ((y, BLUE, "#bcd2f6"), (slope, ORANGE, "#f6d9ba")):
        shown = values["exact"] <= 3
        some = np.append(np.flatnonzero(shown)[::10], np.flatnonzero(shown)[-1])
        axes.curve(x[some], values["exact"][some], pale, 7)
        axes.curve(x[shown], values["tanh"][shown], dark, 2)
    axes.text(1.15, 2.55, "GELU", BLUE)
    axes.text(-1.2, 0.62, "slope", ORANGE)

    sheet.text(590, 24, "tanh form less exact form", 15, INK)
    axes = Axes(
        sheet, (460, 48, 270, 230), (-4, 4), (-0.0009, 0.0009), (-0.0008, -0.0004, 0, 0.0004, 0.0008), "{}"
    )
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


if __name__ == "__main__":
    main()
