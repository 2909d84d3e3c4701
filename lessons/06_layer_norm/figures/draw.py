"""Draw this lesson's figure: python -m lessons.06_layer_norm.figures.draw"""

from pathlib import Path

import numpy as np

from lessons.drawing import BLUE, INK, ORANGE, QUIET, Sheet


def main():
    sheet = Sheet(640, 250)
    rows = np.array([[2.0, 4.0, 6.0], [102.0, 104.0, 106.0], [-10.0, 0.0, 10.0]])
    centred = rows - rows.mean(axis=1, keepdims=True)
    n = centred / centred.std(axis=1, keepdims=True)
    columns = (
        (30, rows, "x", 110, "{:.0f}"),
        (260, centred, "x - mean", 10, "{:.0f}"),
        (490, n, "n", 2, "{:.2f}"),
    )
    for left, values, title, limit, form in columns:
        sheet.text(left + 60, 40, title, 16, INK)
        sheet.grid(left, 60, values, 40, form, limit, 12)
    sheet.arrow((160, 120), (250, 120), BLUE)
    sheet.text(205, 104, "shift", 12, BLUE)
    sheet.arrow((390, 120), (480, 120), ORANGE)
    sheet.text(435, 104, "stretch", 12, ORANGE)
    sheet.text(
        320,
        218,
        "Three different rows, one and the same answer: the output sees neither shift nor scale.",
        13,
        QUIET,
    )
    sheet.save(Path(__file__).parent / "layer_norm.png")


if __name__ == "__main__":
    main()
