"""Draw this lesson's figures: python -m lessons.30_many_devices.figures.draw"""

import math
from importlib import import_module
from pathlib import Path

import numpy as np

from lessons.drawing import AXIS, BLUE, GREEN, INK, ORANGE, QUIET, Axes, Sheet
from tinyvit.insight.pictures.colours import tint
from tinyvit.model import preset
from tinyvit.model.cost import parameter_count
from tinyvit.model.layout import layout

HERE = Path(__file__).parent
rings = import_module("lessons.30_many_devices.network")
solution = import_module("lessons.30_many_devices.solution")


def main():
    draw_journey().save(HERE / "journey.png")
    draw_pays().save(HERE / "pays.png")
    draw_buckets().save(HERE / "buckets.png")


def draw_journey():
    """The journey of part 2 round a ring of four, with its values on the way."""
    sheet = Sheet(780, 236)
    numbers = [3, 10, 400, 2000]  # those of part 2 on each rank
    halves = (
        (20, "first half: it grows", BLUE, [3, 0, 1, 2], [2000, 2003, 2013, 2413]),
        (410, "second half: it is handed on", GREEN, [2, 3, 0, 1], [2413] * 4),
    )
    for left, title, colour, ranks, values in halves:
        sheet.text(left, 22, title, 14, INK, "lm")
        for i, (rank, value) in enumerate(zip(ranks, values, strict=True)):
            x = left + 90 * i
            owner = rank == 2
            sheet.text(x + 32, 62, f"rank {rank}", 13, colour if owner else INK)
            sheet.box(x, 78, 64, 34, tint(colour, 0.5 if owner else 0.16), colour)
            sheet.text(x + 32, 95, f"{value:,}", 13)
            if colour == BLUE:
                words = "its own" if i == 0 else f"+ {numbers[rank]:,}"
                sheet.text(x + 32, 128, words, 12, QUIET)
            if i < 3:
                sheet.arrow((x + 66, 95), (x + 88, 95), colour, 1.8)
                sheet.text(x + 77, 146, f"turn {i + 1}", 11, QUIET)
                sheet.line([(x + 77, 103), (x + 77, 138)], AXIS, 1)
    words = (
        "Of part 2, rank 0 has 3, rank 1 has 10, rank 2 has 400 and rank 3 has 2,000.",
        "In each turn three other parts are on their way too: every rank sends one and receives one.",
    )
    for line, text in enumerate(words):
        sheet.text(20, 190 + 20 * line, text, 12, QUIET, "lm")
    return sheet


def draw_pays():
    """Seconds of a step of Ti/4 by the number of ranks: computing, the exchange, and both."""
    sheet = Sheet(780, 330)
    size, images, each = 4 * parameter_count(preset("Ti/4", 32, 10)), 512, 1 / 94
    ranks = 2 ** np.arange(0, 10)
    compute = np.array([math.ceil(images / r) * each for r in ranks])
    ring = np.array([rings.without_stragglers(int(r), size, 0.0, rings.ETHERNET) for r in ranks])
    axes = Axes(sheet, (70, 44, 590, 268), (1, 512), (0.01, 8), "xy")
    axes.y_name("seconds a step")
    axes.y_ticks((0.01, 0.1, 1), ("0.01", "0.1", "1"))
    axes.x_ticks(ranks.tolist(), [str(r) for r in ranks])
    axes.x_name("ranks")
    axes.frame()
    ends = []
    for values, colour, name in (
        (compute, BLUE, "computing"),
        (ring, ORANGE, "the ring"),
        (compute + ring, INK, "the whole step"),
    ):
        shown = values > 0
        axes.curve(ranks[shown], values[shown], colour)
        ends.append((512, float(values[-1]), name, colour))
    axes.label_ends(ends)
    words = "Ti/4, 512 images in all, 94 a second on each rank; 1 GB/s, 50 microseconds a message"
    sheet.text(70, 318, words, 12, QUIET, "lm")
    return sheet


def draw_buckets():
    """A step of B/16 on 64 ranks with three limits: what the backward does, and what the network does."""
    sizes = [4 * math.prod(row.shape) for row in layout(preset("B/16", 224, 1000))]
    layers = [(0.12 * size / sum(sizes), size) for size in sizes]
    network = rings.Network(50e-6, 12.5e9)
    cases = (("one bucket", math.inf), ("50 MB", 50e6), ("10 MB", 10e6))
    sheet, left, scale = Sheet(780, 290), 176, 2480
    for row, (name, limit) in enumerate(cases):
        y = 36 + 74 * row
        times = solution.bucket_times(layers, limit, 64, network)
        sheet.text(16, y + 22, name, 14, INK, "lm")
        for at, words in ((y + 9, "backward"), (y + 37, "network")):
            sheet.text(left - 8, at, words, 11, QUIET, "rm")
        sheet.rectangle(left, y, 0.12 * scale, 18, tint(BLUE, 0.25), BLUE)
        for begin, end in times:
            sheet.rectangle(
                left + begin * scale, y + 28, (end - begin) * scale, 18, tint(ORANGE, 0.3), ORANGE
            )
        sheet.text(left + times[-1, 1] * scale + 8, y + 37, f"{1e3 * times[-1, 1]:.0f} ms", 13, INK, "lm")
    bottom = 36 + 74 * 3 - 10
    sheet.line([(left, bottom), (left + 0.22 * scale, bottom)], AXIS, 1.2)
    for ms in range(0, 221, 20):
        x = left + ms * scale / 1000
        sheet.line([(x, bottom), (x, bottom + 5)], AXIS, 1.2)
        sheet.text(x, bottom + 16, str(ms), 11, QUIET)
    sheet.text(left + 0.11 * scale, bottom + 34, "milliseconds after the forward pass", 12, QUIET)
    return sheet


if __name__ == "__main__":
    main()
