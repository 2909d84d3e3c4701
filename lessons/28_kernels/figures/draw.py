"""Draw this lesson's figures: python -m lessons.28_kernels.figures.draw"""

from pathlib import Path

from lessons.drawing import AXIS, BLUE, FAINT, GREEN, INK, ORANGE, PAPER, QUIET, Sheet
from tinyvit.insight.pictures.colours import tint

HERE = Path(__file__).parent
COLOURS = (BLUE, GREEN, ORANGE)


def main():
    draw_threads().save(HERE / "threads.png")
    draw_reading().save(HERE / "reading.png")
    draw_butterfly().save(HERE / "butterfly.png")
    draw_columns().save(HERE / "columns.png")


def cell(sheet, x, y, text, colour, strength=0.18, side=36, size=12):
    """A number's place in memory, or a thread."""
    sheet.rectangle(x, y, side, side, tint(colour, strength) if strength else PAPER, tint(colour, 0.6))
    sheet.text(x + side / 2, y + side / 2, text, size)


def draw_threads():
    """Ten numbers, three blocks of four threads, and two threads with nothing to do."""
    sheet, left, step = Sheet(760, 232), 110, 50
    sheet.text(16, 66, "threads", 13, INK, "lm")
    sheet.text(16, 172, "numbers", 13, INK, "lm")
    for i in range(12):
        block, thread = divmod(i, 4)
        x = left + step * i + 14 * block
        idle = i >= 10
        colour = AXIS if idle else COLOURS[block]
        if thread == 0:
            sheet.text(x + 93, 24, f"block {block}", 13, COLOURS[block])
        cell(sheet, x, 48, str(thread), colour, 0 if idle else 0.25)
        if idle:
            sheet.text(x + 18, 104, "nothing", 11, QUIET)
            sheet.text(x + 18, 118, "to do", 11, QUIET)
            continue
        to = left + step * i + 14
        sheet.arrow((x + 18, 86), (to + 18, 150), colour, 1.5)
        cell(sheet, to, 154, f"x[{i}]", colour, 0.1, size=11)
    words = "i = blockIdx.x * blockDim.x + threadIdx.x, here with blockDim.x = 4"
    sheet.text(left + 14, 214, words, 12, QUIET, "lm")
    return sheet


def draw_reading():
    """Eight lanes over a matrix: neighbours in a row, or in a column, and what is fetched for them."""
    sheet, size = Sheet(760, 318), 26
    cases = (
        (40, "a warp reads along a row", lambda lane: (2, lane), "one piece, all of it used"),
        (420, "a warp reads down a column", lambda lane: (lane, 2), "eight pieces, an eighth of each used"),
    )
    for left, title, place, words in cases:
        sheet.text(left, 22, title, 14, INK, "lm")
        taken = {place(lane): lane for lane in range(8)}
        for row in range(8):
            fetched = any(r == row for r, _ in taken)
            for column in range(8):
                lane = taken.get((row, column))
                fill = PAPER if not fetched else tint(BLUE, 0.55 if lane is not None else 0.12)
                x, y = left + size * column, 42 + size * row
                sheet.rectangle(x, y, size, size, fill, FAINT)
                if lane is not None:
                    sheet.text(x + size / 2, y + size / 2, str(lane), 12)
            if fetched:
                y = 42 + size * row
                corners = [(left, y), (left + 8 * size, y), (left + 8 * size, y + size), (left, y + size)]
                sheet.line([*corners, corners[0]], BLUE, 1.5)
        sheet.text(left, 270, words, 13, QUIET, "lm")
    words = "Rows of 8 numbers, and a warp of 8 lanes: a GPU's has 32. Framed: what comes from memory."
    sheet.text(40, 300, words, 12, QUIET, "lm")
    return sheet


def draw_butterfly():
    """Eight lanes add up their numbers in three exchanges."""
    sheet, left, step = Sheet(760, 356), 170, 72
    values = [3, 1, 4, 1, 5, 9, 2, 6]
    for lane in range(8):
        sheet.text(left + step * lane + 18, 22, f"lane {lane}", 12, QUIET)
    sheet.text(16, 58, "at first", 13, INK, "lm")
    for lane, value in enumerate(values):
        cell(sheet, left + step * lane, 40, str(value), BLUE, 0.15, size=14)
    y = 40
    for number, distance in enumerate((4, 2, 1)):
        values = [value + values[lane ^ distance] for lane, value in enumerate(values)]
        below = y + 88
        for lane in range(8):
            x = left + step * lane + 18
            colour = COLOURS[1 if lane & distance else 2]
            sheet.arrow((x, y + 38), (x, below - 3), AXIS, 1.2)
            sheet.arrow((left + step * (lane ^ distance) + 18, y + 38), (x, below - 3), colour, 1.2)
        for lane, value in enumerate(values):
            cell(sheet, left + step * lane, below, str(value), BLUE, 0.25 + 0.15 * number, size=14)
        sheet.text(16, below + 18, f"plus that of lane ^ {distance}", 13, INK, "lm")
        y = below
    return sheet


def draw_columns():
    """A block of 4 x 3 threads over a matrix of 7 rows: partial sums, a barrier, and the sums."""
    sheet, size, left = Sheet(760, 318), 30, 40
    sheet.text(left, 22, "x: which threads take which row?", 13, INK, "lm")
    for row in range(7):
        for column in range(4):
            x, y = left + size * column, 42 + size * row
            sheet.rectangle(x, y, size, size, tint(COLOURS[row % 3], 0.3), PAPER)
        words = f"threadIdx.y = {row % 3}"
        sheet.text(left + 4 * size + 10, 57 + size * row, words, 11, COLOURS[row % 3], "lm")
    for k in range(3):
        for column in range(4):
            cell(sheet, 330 + size * column, 102 + size * k, "", COLOURS[k], 0.55, size)
    sheet.text(330, 22, "shared memory: a sum", 13, INK, "lm")
    sheet.text(330, 39, "for each thread", 13, INK, "lm")
    sheet.arrow((262, 147), (318, 147), INK, 2)
    sheet.line([(498, 60), (498, 250)], ORANGE, 3)
    sheet.text(498, 266, "barrier: no thread goes on", 12, ORANGE)
    sheet.text(498, 281, "until all have written", 12, ORANGE)
    sheet.arrow((462, 147), (570, 147), INK, 2)
    for column in range(4):
        cell(sheet, 584 + size * column, 132, "", BLUE, 0.45, size)
    sheet.text(584, 22, "the sums, by the", 13, INK, "lm")
    sheet.text(584, 39, "threads with y = 0", 13, INK, "lm")
    words = "A block of 4 x 3 threads for 4 columns. In the exercise, it has 32 x 8."
    sheet.text(left, 302, words, 12, QUIET, "lm")
    return sheet


if __name__ == "__main__":
    main()
