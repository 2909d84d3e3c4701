"""Draw this lesson's figure: python -m lessons.04_linear.figures.draw"""

from pathlib import Path

import numpy as np

from lessons.drawing import BLUE, INK, ORANGE, QUIET, Sheet
from tinyvit.ops import linear

X = np.array([[1.0, 2.0], [3.0, 4.0]])
WEIGHT = np.array([[1.0, 0.0, -1.0], [2.0, 1.0, 0.0]])
BIAS = np.array([[10.0, 20.0, 30.0]])
CELL = 34
LEFT = {"x": 150, "W": 264, "b": 412, "y": 600}
PUSHES = (
    ("x", "one number of x", "moves one row of y"),
    ("W", "one number of W", "moves one column of y"),
    ("b", "one number of b", "moves one column, evenly"),
)


def main():
    sheet = Sheet(760, 430)
    for name, width in (("x", 2), ("W", 3), ("b", 3)):
        sheet.text(LEFT[name] + width * CELL / 2, 34, name, 16)
    sheet.text(LEFT["y"] + 1.5 * CELL, 34, "change of y", 16)
    y, _ = linear(X, WEIGHT, BIAS[0])
    for number, (pushed, what, effect) in enumerate(PUSHES):
        top = 60 + 118 * number
        sheet.text(20, top + CELL - 9, what, 13, ORANGE, "lm")
        sheet.text(20, top + CELL + 9, "goes up by 1", 13, ORANGE, "lm")
        arrays = {"x": X.copy(), "W": WEIGHT.copy(), "b": BIAS.copy()}
        arrays[pushed][0, 0] += 1
        change = linear(arrays["x"], arrays["W"], arrays["b"][0])[0] - y
        for name, values in arrays.items():
            height = top + (CELL / 2 if name == "b" else 0)
            sheet.grid(LEFT[name], height, values, CELL, "{:.0f}", 1e9, 13)  # white
            if name == pushed:
                x0, y0 = LEFT[name], height
                corners = [(x0, y0), (x0 + CELL, y0), (x0 + CELL, y0 + CELL), (x0, y0 + CELL), (x0, y0 - 1)]
                sheet.line(corners, ORANGE, 3)
        sheet.arrow((530, top + CELL), (586, top + CELL), BLUE)
        sheet.grid(LEFT["y"], top, change, CELL, None, 4)
        for (r, c), value in np.ndenumerate(change):
            text = f"{value:+.0f}" if value else "0"
            sheet.text(LEFT["y"] + (c + 0.5) * CELL, top + (r + 0.5) * CELL, text, 13)
        sheet.text(LEFT["y"] + 1.5 * CELL, top + 2 * CELL + 15, effect, 12, BLUE)
    sheet.text(380, 410, "Backward, the same places are added up: a row, a column, a column.", 13, QUIET)
    sheet.text(LEFT["W"] - 23, 34, "·", 16, INK)
    sheet.text(LEFT["b"] - 23, 34, "+", 16, INK)
    sheet.save(Path(__file__).parent / "linear.png")


if __name__ == "__main__":
    main()
