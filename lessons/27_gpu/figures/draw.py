"""Draw this lesson's figures: python -m lessons.27_gpu.figures.draw"""

from importlib import import_module
from pathlib import Path

from lessons.drawing import AXIS, BLUE, FAINT, GREEN, INK, ORANGE, PAPER, QUIET, RED, Sheet
from tinyvit.insight.pictures.colours import tint

HERE = Path(__file__).parent
CARDS = import_module("lessons.27_gpu.cards")
SOLUTION = import_module("lessons.27_gpu.solution")

# Each array operation of a LayerNorm: its name, and how many arrays of full size it reads and writes.
LAYER_NORM = (
    ("mean", 1, 0),
    ("x - mean", 1, 1),
    ("square", 1, 1),
    ("mean", 1, 0),
    ("+ eps", 0, 0),
    ("root", 0, 0),
    ("1 / ...", 0, 0),
    ("times r", 1, 1),
    ("times gain", 1, 1),
    ("+ bias", 1, 1),
)
FORMATS = (  # name, bits of the exponent, bits of the significand, largest number, what becomes of 1/3
    ("float32", 8, 23, "3.4e38", "0.333333343"),
    ("TF32", 8, 10, "3.4e38", "0.333252"),
    ("bf16", 8, 7, "3.4e38", "0.333984"),
    ("fp16", 5, 10, "65,504", "0.333252"),
)


def main(folder=HERE):
    folder = Path(folder)
    draw_trips(folder / "trips.png")
    draw_waiting(folder / "waiting.png")
    draw_numbers(folder / "numbers.png")


def draw_trips(path):
    """A LayerNorm as ten launches and as one, with its trips to memory as arrows."""
    sheet = Sheet(800, 214)
    top, bottom, wide = 58, 132, 52
    for x, width in ((16, 10 * 58 - 6), (664, 120)):
        sheet.box(x, top - 28, width, 28, FAINT, QUIET)
        sheet.text(x + width / 2, top - 14, "memory of the card", 12)
    for number, (label, reads, writes) in enumerate(LAYER_NORM):
        x = 16 + 58 * number
        sheet.box(x, bottom, wide, 40, tint(BLUE, 0.16), BLUE)
        first, _, rest = label.partition(" ") if label.startswith("times") else (label, "", "")
        for row, word in enumerate(filter(None, (first, rest))):
            sheet.text(x + wide / 2, bottom + 20 + 13 * (row - bool(rest) / 2), word, 11)
        _arrows(sheet, x + wide / 2, top, bottom, reads, writes)
    sheet.box(664, bottom, 120, 40, tint(GREEN, 0.16), GREEN)
    sheet.text(724, bottom + 20, "all of LayerNorm", 11)
    _arrows(sheet, 724, top, bottom, 1, 1)
    sheet.text(16, 198, "ten launches: seven arrays are read, and five are written", 13, INK, "lm")
    sheet.text(664, 198, "one launch: 1 and 1", 13, INK, "lm")
    sheet.text(16, 14, "thick: an array of full size, read (blue) or written (orange)", 12, QUIET, "lm")
    sheet.text(430, 14, "thin: a number for each row, where nothing larger moves", 12, QUIET, "lm")
    sheet.save(path)


def _arrows(sheet, x, top, bottom, reads, writes):
    """A thick arrow for each array of full size; a thin one if there are only numbers for each row."""
    if reads:
        sheet.arrow((x - 11, top + 3), (x - 11, bottom - 3), BLUE, 4)
    else:
        sheet.arrow((x - 11, top + 3), (x - 11, bottom - 3), AXIS, 1)
    if writes:
        sheet.arrow((x + 11, bottom - 3), (x + 11, top + 3), ORANGE, 4)
    else:
        sheet.arrow((x + 11, bottom - 3), (x + 11, top + 3), AXIS, 1)


def draw_waiting(path):
    """Six operations on host and card: with a wait after each, without, and as a graph."""
    sheet = Sheet(800, 300)
    lengths = (1.0, 3.0, 0.8, 2.5, 1.5, 2.2)
    card = CARDS.Card("a card", bytes_a_second=1.0, flop_a_second=1.0, launch_seconds=1.4)
    waits = [CARDS.Operation("", 0, length, True) for length in lengths]
    free = [CARDS.Operation("", 0, length) for length in lengths]
    graph = [CARDS.Operation("", 0, sum(lengths))]
    rows = (
        ("The host waits after every launch", SOLUTION.timeline(waits, card)),
        ("The host runs ahead", SOLUTION.timeline(free, card)),
        ("One launch for all: a graph", SOLUTION.timeline(graph, card)),
    )
    for number, (title, times) in enumerate(rows):
        _draw_lanes(sheet, 20 + 92 * number, title, times, card.launch_seconds, lengths)
    sheet.save(path)


def _draw_lanes(sheet, top, title, times, launch, lengths):
    """One way of doing it: the host's launches above, the card's operations below, numbered."""
    left, scale, high = 76, 35.0, 24
    place = lambda second: left + scale * second
    sheet.text(left, top, title, 13, INK, "lm")
    for lane, name in enumerate(("host", "card")):
        y = top + 14 + 30 * lane
        sheet.text(left - 12, y + high / 2, name, 12, QUIET, "rm")
        sheet.line([(left, y + high), (place(19.7), y + high)], FAINT, 1)
    previous = 0.0
    for number, (start, end) in enumerate(times):
        waited = len(times) > 1 and title.startswith("The host waits")
        begin = previous if waited or number == 0 else launch * number
        sheet.box(place(begin), top + 14, scale * launch, high, tint(ORANGE, 0.2), ORANGE)
        label = "launch" if number == 0 else str(number + 1)
        sheet.text(place(begin + launch / 2), top + 14 + high / 2, label, 11)
        if len(times) == 1:
            parts = [(sum(lengths[:i]), lengths[i]) for i in range(len(lengths))]
        else:
            parts = [(0.0, end - start)]
        for i, (offset, length) in enumerate(parts):
            x = place(start + offset)
            sheet.box(x, top + 44, scale * length, high, tint(BLUE, 0.2), BLUE)
            sheet.text(x + scale * length / 2, top + 44 + high / 2, str(number + i + 1), 11)
        if waited:
            y = top + 14 + high / 2
            sheet.dashes([(place(begin + launch), y), (place(end), y)], RED, 1.2)
        previous = end
    sheet.text(place(times[-1][1]) + 8, top + 44 + high / 2, "done", 12, INK, "lm")


def draw_numbers(path):
    """The bits of four formats, and the bf16 numbers around 256."""
    sheet = Sheet(800, 306)
    cell, left = 13, 76
    sheet.text(590, 16, "largest", 12, QUIET, "rm")
    sheet.text(640, 16, "1/3 becomes", 12, QUIET, "lm")
    for row, (name, exponent, significand, largest, third) in enumerate(FORMATS):
        y = 30 + 30 * row
        sheet.text(left - 12, y + 10, name, 13, INK, "rm")
        parts = ((1, QUIET), (exponent, ORANGE), (significand, BLUE))
        x = left
        for bits, colour in parts:
            for _ in range(bits):
                sheet.rectangle(x, y, cell, 20, tint(colour, 0.3), PAPER)
                x += cell
        sheet.text(590, y + 10, largest, 12, INK, "rm")
        sheet.text(640, y + 10, third, 12, INK, "lm")
    keys = (
        (76, QUIET, "sign"),
        (140, ORANGE, "exponent: which power of two"),
        (356, BLUE, "significand: the bits after the leading 1"),
    )
    for x, colour, words in keys:
        sheet.rectangle(x, 160, 12, 12, tint(colour, 0.3))
        sheet.text(x + 18, 166, words, 12, INK, "lm")

    place = lambda value: 76 + 62 * (value - 252)
    sheet.line([(place(251.6), 262), (place(263), 262)], QUIET, 1.2)
    for value in (252, 253, 254, 255, 256, 258, 260, 262):
        sheet.line([(place(value), 255), (place(value), 269)], BLUE, 2)
        sheet.text(place(value), 283, str(value), 12)
    for value, goal in ((257, 256), (259, 260), (261, 260)):
        sheet.dot((place(value), 262), 3.5, ORANGE)
        sheet.text(place(value), 222, str(value), 12, ORANGE)
        sheet.arrow((place(value), 232), (place(goal) + (7 if goal < value else -7), 252), ORANGE, 1.5)
    words = "bf16 around 256: the sums 256 + 1, 258 + 1, 260 + 1 lie halfway between two numbers"
    sheet.text(76, 206, words, 13, INK, "lm")
    sheet.save(path)


if __name__ == "__main__":
    main()
