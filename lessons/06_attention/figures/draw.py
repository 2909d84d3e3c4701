"""Draw this lesson's figures: python -m lessons.06_attention.figures.draw (half a minute: it trains)"""

import contextlib
import io
import re
from pathlib import Path

import numpy as np

from lessons.drawing import BLUE, FAINT, INK, ORANGE, PAPER, QUIET, RED, Sheet
from lessons.star import star
from tinyvit.data import normalise
from tinyvit.ops import attention, linear, patchify
from tinyvit.ops.attention import attention_probabilities

HERE = Path(__file__).parent
HEADS = ("#8db3f0", "#f0b987")  # the first head, the second
PLAIN = "#eef3fc"

# Percent of 1,000 new pictures that are right after ten epochs of `learn` on 2,000 pictures, at the rates
# 0.003, 0.01, 0.1 and 0.1: the mean of three trainings (seeds 0, 1 and 2), except for linear, which has no
# seed. The MLP on all pixels has 128 hidden units; the last two models are those of lessons 5 and 6.
REACHED = (
    ("linear", "lesson 3", 12),
    ("MLP on all pixels", "lesson 4", 23),
    ("MLP on each patch", "lesson 5", 48),
    ("the same, with attention", "this lesson", 85),
)


def main():
    draw_mix()
    draw_graph()
    draw_slices()
    draw_product()
    draw_wall()
    draw_looks()


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
    note = "Row: who asks. Column: who is asked. Token c (last row) listens most to itself, then to b."
    sheet.text(380, 280, note, 13, INK)
    sheet.save(HERE / "attention.png")


def draw_graph():
    """The graph of one head: forward in ink, the gradients on their way back in red."""
    sheet = Sheet(760, 330)
    w, h = 56, 42
    boxes = {"x": (24, 134), "q": (196, 50), "k": (196, 134), "v": (196, 232)}
    boxes |= {"S": (352, 92), "A": (490, 92), "o": (640, 160)}
    for name, (x, y) in boxes.items():
        sheet.labelled_box(x, y, w, h, name, PLAIN if name != "x" else PAPER, 16)

    # How far from the middle of its box an edge begins and ends, so that no two arrows meet in a point.
    edges = (("x", "q", -13, 0), ("x", "k", 0, 0), ("x", "v", 13, 0), ("q", "S", 0, -11), ("k", "S", 0, 11))
    edges += (("S", "A", 0, 0), ("A", "o", 0, -11), ("v", "o", 0, 11))
    for a, b, leaves, arrives in edges:
        (x0, y0), (x1, y1) = boxes[a], boxes[b]
        start = np.array([x0 + w + 4, y0 + h / 2 + leaves])
        end = np.array([x1 - 4, y1 + h / 2 + arrives])
        shift = np.array([0, 5])
        sheet.arrow(tuple(start - shift), tuple(end - shift), INK)
        sheet.arrow(tuple(end + shift), tuple(start + shift), RED)
    for x, y, label in ((122, 88, "Wq"), (152, 138, "Wk"), (152, 194, "Wv"), (448, 94, "softmax")):
        sheet.text(x, y, label, 12, INK)
    for x, y, label in ((284, 104, "dq ?"), (316, 154, "dk ?"), (448, 132, "dS"), (566, 158, "dA")):
        sheet.text(x, y, label, 13, RED)
    sheet.text(448, 244, "dv ?", 13, RED)
    sheet.text(352, 58, "q k^T / root of K", 12, INK)
    sheet.text(612, 112, "A v", 12, INK)
    sheet.arrow((700, 176), (744, 176), INK)
    sheet.arrow((744, 186), (700, 186), RED)
    sheet.text(722, 208, "dO", 13, RED)
    sheet.text(100, 286, "three gradients meet in dx", 12, RED)
    note = "Forward from left to right, the gradients from right to left. The question marks are yours."
    sheet.text(380, 314, note, 13, QUIET)
    sheet.save(HERE / "graph.png")


def cells(sheet, left, top, rows, cell, fills):
    """A matrix of plain cells, a colour for each column; fills is a list of groups that stand a bit apart."""
    for group in fills:
        for column, fill in enumerate(group):
            for row in range(rows):
                sheet.rectangle(left + column * cell, top + row * cell, cell, cell, fill, FAINT)
        left += len(group) * cell + 8


def draw_slices():
    """The weights of two heads that read the whole token, and of two that read a slice each."""
    sheet = Sheet(760, 196)
    cell, top = 22, 76
    for left, title, sliced in (
        (52, "every head reads the whole token", False),
        (460, "each head its own slice: wrong", True),
    ):
        sheet.text(left + 140, 24, title, 15, INK)
        for group, name in enumerate("qkv"):
            start = left + group * (4 * cell + 8)
            sheet.text(start + 2 * cell, top - 14, name, 14, INK)
            for row, column in np.ndindex(4, 4):
                head = column // 2
                fill = HEADS[head] if not sliced or row // 2 == head else PAPER
                sheet.rectangle(start + column * cell, top + row * cell, cell, cell, fill, FAINT)
        for row in range(4):
            sheet.text(left - 12, top + (row + 0.5) * cell, str(row), 11, QUIET)
    sheet.text(20, top + 2 * cell, "x", 14, INK)
    note = "Weights of two heads, blue and orange: a row for each number of the token. White: always 0."
    sheet.text(380, 182, note, 12, QUIET)
    sheet.save(HERE / "slices.png")


def draw_product():
    """One product makes q, k and v of two heads; they are cut out, go through attention, and are joined."""
    sheet = Sheet(760, 458)
    cell, top, wide = 20, 66, [[HEADS[0]] * 2 + [HEADS[1]] * 2] * 3
    plain = [["#f4f5f7"] * 4]
    cells(sheet, 24, top + 10, 3, cell, plain)
    sheet.text(64, 22, "x", 15, INK)
    sheet.text(64, top + 106, "(N, D)", 12, QUIET)
    sheet.text(124, top + 40, "@", 18, ORANGE)
    sheet.text(418, top + 40, "=", 20, ORANGE)
    for left, down, rows, title, shape in ((144, 0, 4, "W", "(D, 3D)"), (440, 10, 3, "x W + b", "(N, 3D)")):
        cells(sheet, left, top + down, rows, cell, wide)
        sheet.text(left + 128, 22, title, 15, INK)
        sheet.text(left + 128, top + 106, shape, 12, QUIET)
        for group, name in enumerate("qkv"):
            start = left + group * (4 * cell + 8)
            sheet.text(start + 2 * cell, 44, name, 13, INK)
            for column in range(4):
                at = start + (column + 0.5) * cell
                if rows == 4:
                    sheet.text(at, top - 8, str(4 * group + column), 9, QUIET)
    sheet.text(728, top + 26, "one row", 11, QUIET)
    sheet.text(728, top + 40, "for each", 11, QUIET)
    sheet.text(728, top + 54, "token", 11, QUIET)

    sheet.line([(568, 186), (568, 208)], BLUE)
    sheet.arrow((130, 208), (130, 236), BLUE)
    sheet.line([(568, 208), (130, 208)], BLUE)
    sheet.text(350, 222, "cut: a reshape and a transpose", 12, BLUE)

    lines = 262, 346
    for head, y in enumerate(lines):
        fill = HEADS[head]
        sheet.text(40, y + 30, f"head {head}", 12, INK)
        for number, name in enumerate("qkv"):
            left = 76 + 50 * number
            cells(sheet, left, y, 3, cell, [[fill] * 2])
            if head == 0:
                sheet.text(left + cell, y - 12, name, 13, INK)
        sheet.arrow((220, y + 30), (248, y + 30))
        sheet.labelled_box(252, y + 10, 104, 40, "single_head", PLAIN, 12)
        sheet.arrow((360, y + 30), (388, y + 30))
        cells(sheet, 392, y, 3, cell, [[fill] * 2])
        sheet.arrow((438, y + 30), (480, 334 + (-12, 12)[head]), BLUE)
    sheet.text(412, lines[0] - 12, "o", 13, INK)
    cells(sheet, 486, 304, 3, cell, wide[:1])
    sheet.text(526, 288, "join", 12, BLUE)
    sheet.arrow((572, 334), (630, 334))
    sheet.text(601, 318, "Wo, bo", 12, INK)
    cells(sheet, 636, 304, 3, cell, plain)
    sheet.text(676, 288, "y", 15, INK)
    for x in (146, 412):
        sheet.text(x, 422, "each (N, K);", 12, QUIET)
        sheet.text(x, 440, "all images and heads: (B, H, N, K)", 12, QUIET)
    sheet.text(526, 384, "(N, D)", 12, QUIET)
    sheet.text(676, 384, "(N, D)", 12, QUIET)
    sheet.save(HERE / "multi_head.png")


def draw_wall():
    """The share of new pictures that each model gets right, as bars."""
    sheet = Sheet(760, 256)
    left, full, top = 236, 440, 20
    guess = left + full / 10
    for number, (name, lesson, percent) in enumerate(REACHED):
        y = top + 48 * number
        fill = BLUE if number == len(REACHED) - 1 else "#b9cdf2"
        sheet.text(left - 14, y + 10, name, 14, INK, "rm")
        sheet.text(left - 14, y + 27, lesson, 11, QUIET, "rm")
        sheet.rectangle(left, y, full, 34, "#f4f5f7", FAINT)
        sheet.rectangle(left, y, full * percent / 100, 34, fill, fill)
        sheet.text(left + full + 12, y + 17, f"{percent} %", 15, INK, "lm")
    bottom = top + 48 * len(REACHED) - 8
    sheet.line([(guess, 12), (guess, bottom)], ORANGE, 1.5)
    sheet.text(guess, bottom + 10, "guessing", 12, ORANGE)
    note = (
        "New pictures that are right, after ten epochs on 2,000. Except for linear: means of three trainings."
    )
    sheet.text(380, 240, note, 13, QUIET)
    sheet.save(HERE / "wall.png")


def draw_looks():
    """The attention of a patch of the green star, in the four heads of the text's model."""
    picture, side, gap, full, top, patch = star(), 122, 12, 6, 40, 45
    sheet = Sheet(760, top + 2 * (side + gap) + 30)
    lefts = [86 + column * (side + gap) for column in range(5)]
    for left, title in zip(lefts, ("who asks", "head 0", "head 1", "head 2", "head 3"), strict=True):
        sheet.text(left + side / 2, 22, title, 13, INK)
    row, column = divmod(patch, 8)
    for line, (when, heads) in enumerate(zip(("before", "after"), text_model(), strict=True)):
        y, step = top + line * (side + gap), side / 8
        sheet.text(43, y + side / 2 - 9, when, 13, INK)
        sheet.text(43, y + side / 2 + 9, "training", 13, INK)
        sheet.image(lefts[0], y, picture, side)
        x0, y0 = lefts[0] + column * step, y + row * step
        x1, y1 = x0 + step, y0 + step
        for colour, width in ((PAPER, 5), (INK, 2.5)):
            sheet.line([(x0, y0), (x1, y0), (x1, y1), (x0, y1), (x0, y0), (x1, y0)], colour, width)
        for left, A in zip(lefts[1:], heads, strict=True):
            times = len(A) * A[patch]
            share = np.clip(times / full, 0, 1).reshape(8, 8).repeat(4, axis=0).repeat(4, axis=1)
            sheet.rectangle(left - 1, y - 1, side + 2, side + 2, PAPER, QUIET)
            sheet.image(left, y, (picture * (0.15 + 0.85 * share[..., None])).astype(np.uint8), side)
            print(f"{when}: from {times.min():.2f} to {times.max():.2f} times an even share")
    note = f"Dark: no attention; bright: {full} times an even share, or more."
    sheet.text(380, top + 2 * (side + gap) + 12, note, 13, QUIET)
    sheet.save(HERE / "looks.png")


def text_model():
    """The attention (heads, 64, 64) of the star in the text's model, before and after training."""
    text = (HERE.parent / "README.md").read_text("utf-8")
    names = {}
    with contextlib.redirect_stdout(io.StringIO()):
        for block in re.findall(r"^```python\n(.*?)^```", text, re.M | re.S):
            exec(block, names)
    first = names["initial"](qkv=(names["D"], 3 * names["D"]), o=(names["D"], names["D"]))
    return [attention_of_the_star(params) for params in (first, names["learned"])]


def attention_of_the_star(p):
    x, _ = linear(patchify(normalise(star()[None], np.float32), 4)[0], p["W"], p["b"])
    _, cache = attention(x + p["E"], p["Wqkv"], p["bqkv"], p["Wo"], p["bo"], heads=4)
    return attention_probabilities(cache)[0]


if __name__ == "__main__":
    main()
