"""Draw this lesson's figures: python -m lessons.07_layer_norm.figures.draw"""

from pathlib import Path

import numpy as np

from lessons.drawing import BLUE, FAINT, GREEN, INK, ORANGE, QUIET, Sheet

HERE = Path(__file__).parent


def main():
    draw_rows().save(HERE / "layer_norm.png")
    draw_paths().save(HERE / "paths.png")
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


def draw_paths():
    """The three ways from the first number of a row to the first number of n, each with its slope."""
    sheet = Sheet(760, 290)
    row = np.array([2.0, 4.0, 6.0])
    r = 1 / row.std()
    n = (row - row.mean()) * r
    directly, mean, through_r = r, -r / 3, -r * n[0] * n[0] / 3
    road, above, below = 145, 50, 240
    start, minus, times = 150, 392, 560

    sheet.line([(start, road), (start, above), (216, above)], ORANGE, 2)
    sheet.arrow((206, above), (220, above), ORANGE, 2)
    sheet.line([(324, above), (minus, above)], ORANGE, 2)
    sheet.arrow((minus, above), (minus, road - 15), ORANGE, 2)
    sheet.line([(start, road), (start, below), (216, below)], GREEN, 2)
    sheet.arrow((206, below), (220, below), GREEN, 2)
    sheet.line([(324, below), (times, below)], GREEN, 2)
    sheet.arrow((times, below), (times, road + 15), GREEN, 2)
    sheet.arrow((128, road), (minus - 30, road), BLUE, 2)
    sheet.arrow((minus + 30, road), (times - 30, road), INK)
    sheet.arrow((times + 30, road), (626, road), INK)
    sheet.dot((start, road), 4, BLUE)

    sheet.labelled_box(222, above - 18, 100, 36, "mean(x)", "#fbe7d3")
    sheet.labelled_box(222, below - 18, 100, 36, "r(x)", "#ddf0e4")
    for x, operation in ((minus, "minus"), (times, "times")):
        sheet.labelled_box(x - 28, road - 14, 56, 28, operation, "#ffffff")
    for left, name, values, form, limit, size in (
        (18, "x", row, "{:.0f}", 10, 12),
        (631, "n", n, "{:.2f}", 2, 11),
    ):
        sheet.text(left + 54, road - 36, name, 16)
        sheet.grid(left, road - 18, values, 36, form, limit, size)
        corners = [
            (left + x, road + y) for x, y in ((0, -18), (36, -18), (36, 18), (0, 18), (0, -18), (36, -18))
        ]
        sheet.line(corners, INK, 2.5)
    sheet.text(18, road + 36, "push this entry,", 12, INK, "lm")
    sheet.text(631, road + 36, "watch this one", 12, INK, "lm")

    sheet.text(256, road - 16, f"directly  {directly:.3f}", 14, BLUE)
    sheet.text(minus + 12, above, f"through the mean  {mean:.3f}", 14, ORANGE, "lm")
    sheet.text(442, below - 16, f"through r  {through_r:.3f}", 14, GREEN)
    sheet.text(631, below, f"together  {directly + mean + through_r:.3f}", 14, INK, "lm")
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
    x, y = at(0.5, 0.44)
    sheet.text(x + 2, y + 14, "shadow", 12, ORANGE)
    sheet.text((origin[0] + tip[0]) / 2 - 18, (origin[1] + tip[1]) / 2 - 12, "g", 16, BLUE)
    sheet.text(tip[0] + 10, (tip[1] + shadow[1]) / 2, "g without its shadow", 13, GREEN, "lm")
    sheet.text(250, 309, "not seen by the output", 12, QUIET)

    g, n = np.array([1.0, 0.0, 0.0]), np.array([-1.0, 0.0, 1.0]) * 1.5**0.5
    mean, along = g.mean() * np.ones(3), n * (g * n).mean()
    rest = g - mean - along
    lines = (
        ("g", g, BLUE),
        ("shadow, along the ones", mean, ORANGE),
        ("shadow, along n", along, ORANGE),
        ("g without its shadow", rest, GREEN),
        ("times r: dx", rest / (8 / 3) ** 0.5, GREEN),
    )
    for number, (name, values, colour) in enumerate(lines):
        top = 66 + 46 * number
        sheet.text(588, top + 18, name, 13, colour, "rm")
        sheet.grid(602, top, values.round(9) + 0.0, 46, "{:.3f}", 2, 12)
    sheet.text(671, 46, "for the row 2, 4, 6", 13, INK)
    return sheet


if __name__ == "__main__":
    main()
