"""Draw this lesson's figures, two from what was measured: python -m lessons.26_fast_cpu.figures.draw"""

import json
from pathlib import Path

from lessons.drawing import AXIS, BLUE, FAINT, GREEN, INK, ORANGE, QUIET, Axes, Sheet
from tinyvit.insight.pictures.colours import tint

HERE = Path(__file__).parent
LABELS = {
    "whole": "whole batch, all tokens",
    "token": "+ one row in the last block",
    "memory": "+ freed memory is kept",
    "pieces": "+ micro-batches, in turn",
    "threads": "+ micro-batches on threads",
}


def main(folder=HERE):
    draw_steps(read("steps.json"), folder)
    draw_threads(folder)
    draw_pieces(read("pieces.json"), folder)


def read(name):
    return json.loads((HERE / name).read_text("utf-8"))


def draw_steps(result, folder):
    """A training step in five ways, and the rate of the products alone."""
    sheet = Sheet(790, 60 + 190 * len(result["cases"]))
    for number, case in enumerate(result["cases"]):
        draw_case(sheet, 30 + 190 * number, case)
    machine = result["machine"]
    cores = f"{machine['threads']} core{'s' if machine['threads'] > 1 else ''}"
    words = f"{machine['processor']}, {cores}, {machine['system']}, NumPy {machine['numpy']}"
    sheet.text(20, sheet.size[1] - 18, words, 11, QUIET, "lm")
    sheet.save(Path(folder) / "steps.png")


def draw_case(sheet, top, case):
    """Bars of one model: images a second, variant by variant."""
    left, width = 220, 430
    most = max(case["products_alone"], *(v["images_per_second"] for v in case["variants"]))
    title = f"{case['model']}, batch {case['batch']}: images a second"
    sheet.text(20, top, title, 15, INK, "lm")
    for row, variant in enumerate(case["variants"]):
        y, rate = top + 20 + 27 * row, variant["images_per_second"]
        last = row == len(case["variants"]) - 1
        sheet.text(left - 10, y + 10, LABELS[variant["name"]], 12, INK, "rm")
        length = width * rate / most
        sheet.box(left, y, length, 20, "#cfe0fa" if last else FAINT, BLUE if last else QUIET)
        sheet.text(left + length + 8, y + 10, f"{rate:,.0f}", 12, INK, "lm")
    across = left + width * case["products_alone"] / most
    sheet.line([(across, top + 14), (across, top + 155)], ORANGE, 1.5)
    sheet.text(across + 6, top + 28, "matrix products", 11, ORANGE, "lm")
    sheet.text(across + 6, top + 42, f"alone: {case['products_alone']:,.0f}", 11, ORANGE, "lm")


def draw_threads(folder):
    """The piece that each thread takes, and the order in which everything is added up."""
    sheet = Sheet(780, 230)
    colours = (BLUE, GREEN)
    lengths = (70, 96, 84, 62, 76, 90)  # some pieces take longer than others
    for thread, colour in enumerate(colours):
        y, across = 62 + 70 * thread, 100
        sheet.text(20, y + 16, f"thread {thread}", 13, INK, "lm")
        for piece in range(thread, 6, 2):
            sheet.box(across, y, lengths[piece], 32, tint(colour, 0.16), colour)
            sheet.text(across + lengths[piece] / 2, y + 16, f"piece {piece}", 12)
            across += lengths[piece] + 6
        sheet.line([(across + 2, y + 16), (400, y + 16)], AXIS, 1.2)
        sheet.box(400, y, 128, 32, tint(colour, 0.4), colour)
        sheet.text(464, y + 16, "+".join(f"g{piece}" for piece in range(thread, 6, 2)), 13)
        end = (590, 102 + 12 * thread)
        sheet.line([(528, y + 16), (560, y + 16), (560, end[1]), end], AXIS, 1.2)
    sheet.box(590, 88, 170, 40, FAINT, QUIET)
    sheet.text(675, 108, "(g0+g2+g4) + (g1+g3+g5)", 12)
    for x, words in ((100, "time"), (400, "a table for each thread"), (590, "the sum, thread 0 first")):
        sheet.text(x, 34, words, 12, QUIET, "lm")
    sheet.line([(132, 34), (380, 34)], AXIS, 1)
    sheet.line([(374, 31), (380, 34), (374, 37)], AXIS, 1)
    words = (
        "However long a piece takes, the orders of these sums stay as they are. (The shares are left out.)"
    )
    sheet.text(20, 205, words, 12, QUIET, "lm")
    sheet.save(Path(folder) / "threads.png")


def draw_pieces(result, folder):
    """Milliseconds for GELU and its slope, over the length of a piece."""
    rows, milliseconds = result["rows"], result["milliseconds"]
    R, M = result["shape"]
    sheet = Sheet(760, 350)
    title = f"GELU and its slope for {R} rows of {M} numbers: milliseconds"
    sheet.text(20, 24, title, 15, INK, "lm")
    axes = Axes(sheet, (60, 56, 730, 270), (0.9, 1.1 * R), (0, 1.1 * max(milliseconds)), "x")
    axes.y_ticks((0, 1, 2, 3, 4, 5))
    axes.x_ticks(rows, [str(each) for each in rows])
    axes.x_name("rows in a piece")
    axes.curve(rows, milliseconds, BLUE, 2.5)
    for x, y in zip(rows, milliseconds, strict=True):
        across, down = axes.place(x, y)
        sheet.dot((across, down), 4, BLUE)
        sheet.text(across + 4, down - 15, f"{y:.1f}", 12, BLUE)
    axes.text(5, 4.4, "Python: many calls for little work", QUIET)
    axes.text(140, 2.6, "the outer cache: all rows at once", QUIET, anchor="mm")
    machine = result["machine"]
    words = f"One core of {machine['processor']}, {machine['system']}, NumPy {machine['numpy']}"
    sheet.text(20, 335, words, 11, QUIET, "lm")
    sheet.save(Path(folder) / "pieces.png")


if __name__ == "__main__":
    main()
