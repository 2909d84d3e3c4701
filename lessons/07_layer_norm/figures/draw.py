"""Draw this lesson's figures: python -m lessons.07_layer_norm.figures.draw"""

from pathlib import Path

import numpy as np

from lessons.drawing import BLUE, FAINT, GREEN, INK, ORANGE, QUIET, Sheet

HERE = Path(__file__).parent


def main():
    draw_rows().save(HERE / "layer_norm.png")
    draw_projection().save(HERE / "projection.png")


def draw_rows():
    """Three rows that LayerNorm maps to the same one."""
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
    return sheet


def draw_projection():
    """g, its shadow on the plane of what the output cannot see, and what is left; beside it the numbers."""
    sheet = Sheet(760, 360)

    def at(ones, n, up=0.0):
        """A point from its coordinates along the row of ones, along n, and upright on both."""
        return 94 + 130 * ones + 92 * n, 262 + 18 * ones - 70 * n - 150 * up

    corners = [at(-0.2, -0.5), at(2.0, -0.5), at(2.0, 1.45), at(-0.2, 1.45), at(-0.2, -0.5)]
    sheet.line(corners, FAINT, 2)
    origin, shadow, tip = at(0, 0), at(0.85, 0.75), at(0.85, 0.75, 1.1)
    sheet.arrow(origin, at(1.15, 0), QUIET)
    sheet.arrow(origin, at(0, 1.15), QUIET)
    sheet.dashes([at(0.85, 0), shadow, at(0, 0.75)], ORANGE, 1.2)
    sheet.arrow(origin, shadow, ORANGE, 2.5)
    sheet.arrow(shadow, tip, GREEN, 2.5)
    sheet.arrow(origin, tip, BLUE, 2.5)
    x, y = at(1.15, 0)
    sheet.text(x + 8, y + 3, "ones: a shift", 12, QUIET, "lm")
    x, y = at(0, 1.15)
    sheet.text(x + 8, y - 2, "n: a stretch", 12, QUIET, "lm")
    x, y = at(0.42, 0)
    sheet.text(x, y + 13, "mean(g)", 12, ORANGE)
    x, y = at(0.5, 0.44)
    sheet.text(x + 2, y + 14, "shadow", 12, ORANGE)
    sheet.text((origin[0] + tip[0]) / 2 - 18, (origin[1] + tip[1]) / 2 - 12, "g", 16, BLUE)
    sheet.text(tip[0] + 10, (tip[1] + shadow[1]) / 2, "left: dx / r", 13, GREEN, "lm")

    g, n = np.array([1.0, 0.0, 0.0]), np.array([-1.0, 0.0, 1.0]) * 1.5**0.5
    mean, along = g.mean() * np.ones(3), n * (g * n).mean()
    rest = g - mean - along
    lines = (
        ("g", g, BLUE),
        ("its part along the ones", mean, ORANGE),
        ("its part along n", along, ORANGE),
        ("what is left", rest, GREEN),
        ("times r: dx", rest / (8 / 3) ** 0.5, GREEN),
    )
    for number, (name, values, colour) in enumerate(lines):
        top = 66 + 46 * number
        sheet.text(588, top + 18, name, 13, colour, "rm")
        sheet.grid(602, top, values.round(9) + 0.0, 46, "{:.3f}", 2, 12)
    sheet.text(671, 46, "the row 2, 4, 6", 13, INK)
    return sheet


if __name__ == "__main__":
    main()
