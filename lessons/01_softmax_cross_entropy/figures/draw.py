"""Draw this lesson's figures: python -m lessons.01_softmax_cross_entropy.figures.draw"""

from pathlib import Path

import numpy as np

from lessons.drawing import AXIS, BLUE, FAINT, GREEN, INK, ORANGE, PAPER, QUIET, RED, Axes, Sheet
from tinyvit.ops import softmax, softmax_backward

FOLDER = Path(__file__).parent
NAMES = "cat", "dog", "ship"


def main():
    draw_rows()
    draw_graph()
    draw_jacobian()
    draw_minus_log()


def draw_rows():
    """Logits, probabilities, target and gradient, for two rows a thousand apart."""
    sheet = Sheet(690, 262)
    scores = np.array([[2.0, 1.0, 0.0], [1002.0, 1001.0, 1000.0]])
    p, _ = softmax(scores)
    target = np.array([[1.0, 0.0, 0.0]] * 2)
    cell = 42
    tops = (62, 142)
    columns = (
        (20, scores, "logits z", 1e9, "{:.0f}"),
        (206, p, "probabilities p", 1.0, "{:.3f}"),
        (370, target, "target t", 1.0, "{:.0f}"),
        (544, p - target, "gradient", 1.0, "{:.3f}"),
    )
    for left, values, title, limit, form in columns:
        sheet.text(left + 1.5 * cell, 20, title, 15, INK)
        for row, top in enumerate(tops):
            sheet.grid(left, top, values[row], cell, form, limit, 11)
            for c, name in enumerate(NAMES):
                sheet.text(left + (c + 0.5) * cell, top - 10, name, 11, QUIET)
    for top in tops:
        middle = top + cell / 2
        sheet.arrow((152, middle), (200, middle), BLUE)
        sheet.line([(345, middle), (357, middle)], ORANGE, 2)
        for y in (middle - 3, middle + 3):
            sheet.line([(514, y), (526, y)], GREEN, 2)
    sheet.text(176, tops[0] - 10, "softmax", 12, BLUE)
    sheet.text(
        345, 212, "A thousand more on every logit: the same probabilities, the same gradient.", 13, QUIET
    )
    sheet.text(345, 236, "The gradient adds up to 0. A step against it lifts the cat.", 13, QUIET)
    sheet.save(FOLDER / "cross_entropy.png")


def draw_graph():
    """The computational graph of one row: values forward above, gradients backward below."""
    z = np.array([2.0, 1.0, 0.0])
    e = np.exp(z)
    S = e.sum()
    p = e[0] / S
    dp = -1 / p
    direct, dS = dp / S, -dp * e[0] / S**2
    de = np.array([direct + dS, dS, dS])

    sheet = Sheet(690, 330)
    cell = 46
    sheet.text(20, 20, "forward: values", 13, BLUE, "lm")
    sheet.text(20, 306, "backward: gradients", 13, ORANGE, "lm")
    rows = (104, 218)  # the tops of the cells of values, and of gradients

    def cells(x, values, top, name, form="{:.3f}", column=False):
        values = np.atleast_2d(values)
        sheet.grid(x, top, values, cell, form, 1e9, 11)
        above = top == rows[0]
        sheet.text(
            x + values.shape[1] * cell / 2,
            top - 12 if above else top + cell + 13,
            name,
            13,
            BLUE if above else ORANGE,
        )

    boxes = ((178, "exp"), (400, "divide"), (544, "-log"))
    for x, (values, gradients), name in (
        (20, (z, de * e), "z"),
        (242, (e, de), "e"),
        (480, (p, dp), "p"),
        (624, (-np.log(p), 1.0), "L"),
    ):
        forms = {"z": "{:.0f}", "e": "{:.2f}"}
        cells(x, values, rows[0], name, forms.get(name, "{:.3f}"))
        cells(x, gradients, rows[1], f"d{name}")
    middle = [top + cell / 2 for top in rows]
    for x, name in boxes:
        sheet.labelled_box(x - 14, 166, 62, 36, name, size=13)
    for start, end in ((158, 242), (380, 480), (526, 624)):
        sheet.arrow((start, middle[0]), (end, middle[0]), BLUE)
        sheet.arrow((end, middle[1]), (start, middle[1]), ORANGE)
    # The sum, a way of its own from e to the quotient.
    sheet.labelled_box(358, 36, 62, 32, "sum", size=13)
    sheet.arrow((330, 86), (356, 60), BLUE)
    sheet.arrow((420, 60), (482, 103), BLUE)
    sheet.text(430, 44, f"S = {S:.2f}", 12, BLUE, "lm")
    sheet.text(430, 277, f"along e: {direct:.3f}", 12, ORANGE, "mm")
    sheet.text(430, 295, f"along S: {dS:.3f}, to all three", 12, ORANGE, "mm")
    sheet.save(FOLDER / "graph.png")


def draw_jacobian():
    """dy as bars as wide as y, their mean, and the areas between the two, which are dx."""
    y, dy = np.array([0.5, 0.25, 0.25]), np.array([3.0, 1.0, -1.0])
    dx, mean = softmax_backward(dy, y), (dy * y).sum()
    wide, unit, zero = 256, 42, 190  # of all bars together, of 1, and where 0 is
    edges = np.concatenate([[0], y.cumsum()]) * wide
    level = zero - unit * mean

    sheet = Sheet(690, 316)
    for left, title in ((88, "what comes back: dy"), (410, "what goes on: dx")):
        sheet.text(left + wide / 2, 20, title, 15, INK)
        for i in range(3):
            x, width, top = left + edges[i], wide * y[i], zero - unit * dy[i]
            middle = x + width / 2
            if left < 300:
                sheet.rectangle(x, min(top, zero), width, abs(top - zero), FAINT, PAPER)
                sheet.text(middle, top + (-11 if dy[i] > 0 else 11), f"{dy[i]:.0f}", 13, INK)
                sheet.text(middle, 266, f"y = {y[i]:g}", 11, QUIET)
                continue
            colour = BLUE if dx[i] > 0 else ORANGE
            sheet.rectangle(x, min(top, level), width, abs(top - level), colour, PAPER)
            sheet.text(middle, (top + level) / 2, f"{dx[i]:g}", 13, PAPER)
            sheet.text(middle, 266, f"{y[i]:g} · {dy[i] - mean:g}", 11, QUIET)
        sheet.dashes([(left - 14, level), (left + wide + 14, level)], INK, 1.5)
    sheet.line([(74, zero), (88 + wide + 14, zero)], AXIS, 1)
    sheet.text(68, zero, "0", 12, QUIET, "rm")
    sheet.text(68, level, "mean 1.5", 12, INK, "rm")
    caption = "A bar is as wide as its y. On the right its area is dx: as much above the mean as below."
    sheet.text(345, 294, caption, 13, QUIET)
    sheet.save(FOLDER / "jacobian.png")


def draw_minus_log():
    """-log p between 0 and 1, with the costs of a few probabilities."""
    sheet = Sheet(690, 330)
    axes = Axes(sheet, (70, 40, 650, 270), (0, 1), (0, 7.4))
    axes.x_ticks([0, 0.2, 0.4, 0.6, 0.8, 1.0])
    axes.y_ticks([0, 2, 4, 6])
    axes.frame()
    p = np.concatenate([np.geomspace(7e-4, 0.05, 80), np.linspace(0.051, 1, 120)])
    axes.curve(p, -np.log(p), BLUE, 2.5)
    points = (
        (0.001, "0.001 costs 6.91: sure, and wrong", RED, 14, 0),
        (0.1, "0.1 costs 2.30: a blind guess among ten classes", INK, 14, -8),
        (0.5, "0.5 costs 0.69", INK, 8, -14),
        (0.9, "0.9 costs 0.11", GREEN, -20, -22),
    )
    for at, label, colour, right, down in points:
        x, y = axes.place(at, -np.log(at))
        sheet.dot((x, y), 4, colour)
        sheet.text(x + right, y + down, label, 13, colour, "lm")
    axes.x_name("the probability p given to the right class", 13)
    sheet.text(20, 20, "the loss, -log p", 13, INK, "lm")
    sheet.save(FOLDER / "minus_log.png")


if __name__ == "__main__":
    main()
