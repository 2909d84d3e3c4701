"""Draw this lesson's figures: python -m lessons.29_flash_attention.figures.draw"""

from pathlib import Path

from lessons.drawing import AXIS, BLUE, FAINT, GREEN, INK, ORANGE, PAPER, QUIET, Sheet
from tinyvit.insight.pictures.colours import tint

HERE = Path(__file__).parent
SIDE = 30  # of a tile, in points
ROW, COLUMN, TILES = 2, 3, 6  # the tile that is at work, and how many there are along each side


def main():
    draw_running().save(HERE / "running.png")
    draw_tiles().save(HERE / "tiles.png")
    draw_shared().save(HERE / "shared.png")


# The running softmax of the text: two scores, and two more.


def draw_running():
    """The state after the first tile, the effect of the larger score on it, and the state at the end."""
    sheet = Sheet(760, 300)
    weights = ((1, 1 / 4), (1 / 4, 1 / 16), (1 / 4, 1 / 16, 1, 1 / 2))
    written = (("1", "1/4"), ("1/4", "1/16"), ("1/4", "1/16", "1", "1/2"))
    titles = ("after 3 and 1", "5 comes: all shrink by 4", "after 5 and 4")
    known = (("3", "5/4", "9"), ("5", "5/16", "9/4"), ("5", "29/16", "29/4"))
    for panel, left in enumerate((40, 270, 500)):
        sheet.text(left, 24, titles[panel], 14, INK, "lm")
        base, high, step = 180, 110, 46
        sheet.line([(left, base), (left + 4 * step, base)], AXIS, 1.2)
        for i, (weight, text) in enumerate(zip(weights[panel], written[panel], strict=True)):
            colour = BLUE if i < 2 else GREEN
            sheet.rectangle(left + step * i + 6, base - high * weight, 30, high * weight, tint(colour, 0.6))
            sheet.text(left + step * i + 21, base - high * weight - 10, text, 12)
        for i, (score, value) in enumerate(((3, 8), (1, 4), (5, 2), (4, 6))[: len(weights[panel])]):
            sheet.text(left + step * i + 21, base + 14, f"score {score}", 10.5, QUIET)
            sheet.text(left + step * i + 21, base + 28, f"value {value}", 10.5, QUIET)
        for i, (name, number) in enumerate(zip(("largest", "sum", "mix"), known[panel], strict=True)):
            sheet.box(left + 62 * i, 232, 56, 44, tint(ORANGE, 0.15), tint(ORANGE, 0.7))
            sheet.text(left + 62 * i + 28, 244, name, 10.5, QUIET)
            sheet.text(left + 62 * i + 28, 262, number, 14)
    sheet.arrow((236, 254), (262, 254), INK, 1.5)
    sheet.arrow((466, 254), (492, 254), INK, 1.5)
    return sheet


# Plain attention beside flash attention.


def draw_tiles():
    """On the left all of S goes to memory; on the right there is one tile of it at a time."""
    sheet = Sheet(760, 366)
    for left, title in ((70, "plain: all scores exist"), (400, "flash: one tile of scores exists")):
        is_flash = left == 400
        sheet.text(left, 22, title, 14, INK, "lm")
        top = 94
        for row in range(TILES):
            for column in range(TILES):
                x, y = left + SIDE * column, top + SIDE * row
                fill = _fill(row, column) if is_flash else tint(ORANGE, 0.45)
                sheet.rectangle(x, y, SIDE, SIDE, fill, FAINT)
        for i in range(TILES):
            in_use = is_flash and i == COLUMN
            for name, y in (("k", 46), ("v", 66)):
                sheet.rectangle(left + SIDE * i, y, SIDE, 16, tint(GREEN, 0.75 if in_use else 0.2), PAPER)
                if i == 0:
                    sheet.text(left + SIDE * TILES + 10, y + 8, name, 12, GREEN)
            in_use = is_flash and i == ROW
            sheet.rectangle(left - 30, top + SIDE * i, 16, SIDE, tint(BLUE, 0.75 if in_use else 0.2), PAPER)
            done = not is_flash or i < ROW
            x = left + SIDE * TILES + 14
            sheet.rectangle(x, top + SIDE * i, 16, SIDE, tint(BLUE, 0.35) if done else PAPER, FAINT)
        sheet.text(left - 22, top - 12, "q", 12, BLUE)
        sheet.text(left + SIDE * TILES + 22, top - 12, "o", 12, BLUE)
        if is_flash:
            y = top + SIDE * (ROW + 0.5)
            for from_tile in range(COLUMN):
                x = left + SIDE * (from_tile + 0.5)
                sheet.arrow((x - 10, y), (x + 10, y), QUIET, 1.3)
            x = left + SIDE * TILES + 42
            for i, name in enumerate(("largest", "sum", "mix")):
                sheet.box(x, y - 42 + 29 * i, 66, 24, tint(ORANGE, 0.15), tint(ORANGE, 0.7))
                sheet.text(x + 33, y - 30 + 29 * i, name, 11)
            sheet.text(x, y + 58, "kept for each of", 11, QUIET, "lm")
            sheet.text(x, y + 73, "these queries", 11, QUIET, "lm")
    below = 94 + SIDE * TILES
    for i, words in enumerate(("S: written, then read for the softmax", "A: written, then read for the mix")):
        sheet.text(70, below + 22 + 20 * i, words, 12, INK, "lm")
    for i, (strength, words) in enumerate(
        ((0.9, "now: in shared memory and registers"), (0.25, "used and forgotten"), (0, "still to come"))
    ):
        y = below + 14 + 20 * i
        sheet.rectangle(400, y, 14, 14, tint(ORANGE, strength) if strength else PAPER, AXIS)
        sheet.text(422, y + 7, words, 12, INK, "lm")
    sheet.text(70, below + 62, "4 N N numbers to and from memory", 12, QUIET, "lm")
    return sheet


def _fill(row: int, column: int) -> str:
    """The colour of a tile of scores in flash attention, row by row."""
    if (row, column) == (ROW, COLUMN):
        return tint(ORANGE, 0.9)
    return tint(ORANGE, 0.25) if (row, column) < (ROW, COLUMN) else PAPER


# What is in shared memory, and when.

LOAD, USE = 70, 120  # how long the slowest thread takes for each, in points


def draw_shared():
    """Four threads over time, the barriers between them, and what shared memory and registers hold."""
    sheet, left = Sheet(760, 330), 100
    quick = ((0.7, 0.9), (1, 0.75), (0.55, 1), (0.85, 0.6))
    colours = (BLUE, GREEN)
    tops = [44 + 26 * thread for thread in range(4)]
    for thread, y in enumerate(tops):
        sheet.text(left - 12, y + 9, f"thread {thread}", 11.5, QUIET, "rm")
    x = left
    for number in range(3):
        load, use = LOAD, USE
        colour = colours[number % 2]
        for (slow_load, slow_use), y in zip(quick, tops, strict=True):
            sheet.rectangle(x, y, load * slow_load, 18, tint(colour, 0.25), tint(colour, 0.7))
            sheet.rectangle(x + load, y, use * slow_use, 18, tint(colour, 0.7), tint(colour, 0.9))
        sheet.text(x + load / 2, 28, "load", 11.5, colour)
        sheet.text(x + load + use / 2, 28, "scores, sum, mix", 11.5, colour)
        _barrier(sheet, x + load)
        _slot(sheet, x, load, 172, "being written", tint(colour, 0.12), colour)
        _slot(sheet, x + load, use, 172, f"tile {number}", tint(colour, 0.6), colour)
        known = ("of nothing", "of tile 0", "of 0 and 1")[number]
        _slot(sheet, x, load, 212, known, tint(ORANGE, 0.1 + 0.12 * number), ORANGE)
        _slot(sheet, x + load, use, 212, "grows", tint(ORANGE, 0.16 + 0.12 * number), ORANGE)
        x += load + use
        if number < 2:
            _barrier(sheet, x)
    sheet.text(left - 12, 187, "keys, values", 11.5, INK, "rm")
    sheet.text(left - 12, 227, "sum and mix", 11.5, INK, "rm")
    sheet.line([(left, 262), (x, 262)], AXIS, 1.2)
    sheet.arrow((x - 8, 262), (x + 14, 262), AXIS, 1.2)
    sheet.text(x - 10, 277, "time", 11.5, QUIET)
    words = "Orange: barriers. Nobody reads a tile before the first, or writes over it before the second."
    sheet.text(left, 302, words, 12, QUIET, "lm")
    return sheet


def _barrier(sheet: Sheet, x: float) -> None:
    sheet.line([(x, 38), (x, 250)], ORANGE, 2.5)


def _slot(sheet: Sheet, x: float, width: float, y: float, words: str, fill: str, edge: str) -> None:
    """The contents of a memory from one moment to another."""
    sheet.rectangle(x, y, width, 30, fill, tint(edge, 0.6))
    sheet.text(x + width / 2, y + 15, words, 10.5)


if __name__ == "__main__":
    main()
