"""Draw this lesson's figures. The last one needs a trained run of the built-in shapes:

python -m tinyvit.train --threads 1 --out RUN
python -m lessons.06_attention.figures.draw RUN
"""

import sys
from pathlib import Path

import numpy as np

import tinyvit
from lessons.drawing import BLUE, INK, ORANGE, PAPER, QUIET, RED, Sheet
from lessons.star import star

HERE = Path(__file__).parent


def main(runs):
    draw_mix()
    draw_graph()
    for run in runs:
        draw_looks(tinyvit.load(run))


def draw_mix():
    """Points, attention, values and what is heard, for the three tokens of the text."""
    sheet = Sheet(760, 300)
    x = np.array([[1.0, 0.0], [0.0, 1.0], [1.0, 1.0]])
    q, v = x @ np.array([[0.0, 2.0], [1.0, 0.0]]), 10 * x
    scores = q @ x.T
    A = np.exp(scores / np.sqrt(2))
    A /= A.sum(axis=1, keepdims=True)
    cell, top = 44, 84
    steps = (
        (60, scores, "points", "query of a row times key of a column", "{:.0f}", 5),
        (290, A, "A", "attention: rows add up to 1", "{:.2f}", 1),
        (490, v, "v", "what each says", "{:.0f}", 18),
        (636, A @ v, "o", "what each hears", "{:.1f}", 18),
    )
    for left, values, title, under, form, limit in steps:
        width, height = sheet.grid(left, top, values, cell, form, limit, 13)
        middle = left + width / 2
        sheet.text(middle, 38, title, 16, INK)
        sheet.text(middle, top + height + 22, under, 11, QUIET)
        for row, token in enumerate("abc"):
            sheet.text(left - 12, top + (row + 0.5) * cell, token, 13, QUIET)
            if values.shape[1] == 3:
                sheet.text(left + (row + 0.5) * cell, top - 12, token, 13, QUIET)
    middle = top + 1.5 * cell
    sheet.arrow((200, middle), (266, middle), BLUE)
    sheet.text(233, middle - 14, "softmax", 11, BLUE)
    sheet.text(233, middle + 16, "points / 1.41", 11, BLUE)
    sheet.text(448, middle, "@", 20, ORANGE)
    sheet.text(602, middle, "=", 22, ORANGE)
    sheet.text(
        380,
        280,
        "Row: who asks. Column: who is asked. Token c (last row) listens most to itself, then to b.",
        13,
        INK,
    )
    sheet.save(HERE / "attention.png")


def draw_graph():
    """The graph of one head: forward in ink, the gradients on their way back in red."""
    sheet = Sheet(760, 330)
    boxes = {
        "x": (24, 134),
        "q": (196, 50),
        "k": (196, 134),
        "v": (196, 232),
        "S": (352, 92),
        "A": (490, 92),
        "o": (640, 160),
    }
    w, h = 56, 42
    for name, (x, y) in boxes.items():
        sheet.labelled_box(x, y, w, h, name, "#eef3fc" if name != "x" else PAPER, 16)

    def edge(a, b):
        (x0, y0), (x1, y1) = boxes[a], boxes[b]
        start, end = np.array([x0 + w + 4, y0 + h / 2]), np.array([x1 - 4, y1 + h / 2])
        shift = np.array([0, 5])
        sheet.arrow(tuple(start - shift), tuple(end - shift), INK)
        sheet.arrow(tuple(end + shift), tuple(start + shift), RED)

    for a, b in ("xq", "xk", "xv", "qS", "kS", "SA", "Ao", "vo"):
        edge(a, b)
    for x, y, label in ((124, 92, "Wq"), (166, 140, "Wk"), (150, 192, "Wv"), (448, 94, "softmax")):
        sheet.text(x, y, label, 12, INK)
    for x, y, label in ((286, 101, "dq ?"), (314, 150, "dk ?"), (448, 132, "dS"), (560, 156, "dA")):
        sheet.text(x, y, label, 13, RED)
    sheet.text(448, 244, "dv ?", 13, RED)
    sheet.text(352, 62, "q k^T / root of K", 12, INK)
    sheet.text(608, 116, "A v", 12, INK)
    sheet.arrow((700, 176), (744, 176), INK)
    sheet.arrow((744, 186), (700, 186), RED)
    sheet.text(722, 208, "dO", 13, RED)
    sheet.text(116, 270, "three gradients meet in dx", 12, RED)
    sheet.text(
        380,
        310,
        "Forward from left to right, the gradients from right to left. The question marks are yours.",
        13,
        QUIET,
    )
    sheet.save(HERE / "graph.png")


def draw_looks(trained):
    """Where two patches of the star look, with random weights and with trained ones."""
    picture, side, full = star(), 176, 6
    fresh = tinyvit.preset("nano/4", 32, 10)
    sheet = Sheet(760, 466)
    titles = "the patch that asks", "random weights", "trained weights"
    lefts = 40, 292, 544
    for left, title in zip(lefts, titles, strict=True):
        sheet.text(left + side / 2, 22, title, 14, INK)
    for line, (patch, block, head) in enumerate(((45, 2, 1), (27, 2, 3))):
        top = 42 + line * (side + 22)
        sheet.image(lefts[0], top, picture, side)
        row, column = divmod(patch, 8)
        x, y, step = lefts[0] + column * side / 8, top + row * side / 8, side / 8
        for colour, width in ((PAPER, 5), (INK, 2.5)):
            corners = [(x, y), (x + step, y), (x + step, y + step), (x, y + step), (x, y), (x + step, y)]
            sheet.line(corners, colour, width)
        for left, model in zip(lefts[1:], (fresh, trained), strict=True):
            A = np.asarray(model.attention(picture[None]))[0, block, head, patch + 1, 1:]
            share = np.clip(A * len(A) / full, 0, 1).reshape(8, 8).repeat(4, axis=0).repeat(4, axis=1)
            shown = 255 - (255 - 0.5 * picture) * share[..., None]
            sheet.rectangle(left - 1, top - 1, side + 2, side + 2, PAPER, QUIET)
            sheet.image(left, top, shown.astype(np.uint8), side)
            print(patch, f"from {len(A) * A.min():.2f} to {len(A) * A.max():.2f} times an even share")
    sheet.text(
        380,
        448,
        f"Third block, head 2 above and head 4 below. White: no attention; dark: {full} times an even share.",
        13,
        QUIET,
    )
    sheet.save(HERE / "looks.png")


if __name__ == "__main__":
    main(sys.argv[1:])
