"""Draw this lesson's figures from measured.json: python -m lessons.19_fast_numpy.figures.draw"""

import json
from pathlib import Path

from lessons.drawing import BLUE, FAINT, GREEN, INK, ORANGE, QUIET, Axes, Sheet
from tinyvit.pictures.text import text_width

HERE = Path(__file__).parent
LABELS = {
    "whole": "whole batch, all tokens",
    "token": "+ one row in the last block",
    "memory": "+ freed memory is kept",
    "pieces": "+ micro-batches, in turn",
    "threads": "+ micro-batches on threads",
}
ROOFLINE = (60, 70, 390, 300)  # left, top, right, bottom
X, Y = (1 / 20, 60.0), (1.0, 200.0)  # its axes: multiply-adds a byte, 1e9 multiply-adds a second


def main(measured=HERE / "measured.json", folder=HERE):
    result = json.loads(Path(measured).read_text("utf-8"))
    sheet = Sheet(840, 360)
    draw_roofline(sheet, result["operations"])
    draw_ways(sheet, result["operations"]["ways"])
    sheet.save(Path(folder) / "operations.png")
    sheet = Sheet(840, 60 + 190 * len(result["cases"]))
    for number, case in enumerate(result["cases"]):
        draw_case(sheet, 30 + 190 * number, case)
    machine = result["machine"]
    cores = f"{machine['threads']} core{'s' if machine['threads'] > 1 else ''}"
    words = f"{machine['processor']}, {cores}, {machine['system']}, NumPy {machine['numpy']}"
    sheet.text(20, sheet.size[1] - 18, words, 11, QUIET, "lm")
    sheet.save(Path(folder) / "steps.png")


def draw_roofline(sheet, operations):
    """The two roofs of one core, and where single operations lie below them."""
    points = operations["points"]
    peak = max(operations["peak"], *(rate for _, _, rate in points))
    sheet.text(20, 24, "One core: bytes or arithmetic?", 15, INK, "lm")
    axes = Axes(sheet, ROOFLINE, X, Y, "xy")
    axes.y_name("billion multiply-adds a second")
    axes.frame()
    axes.x_ticks((0.1, 1, 10), ("0.1", "1", "10"))
    axes.y_ticks((1, 10, 100), grid=False)
    axes.x_name("multiply-adds for each byte moved")
    for (name, x, rate), colour in zip(points[:2], (ORANGE, GREEN), strict=True):
        bytes_a_second = rate / x  # 1e9
        foot = max(X[0], Y[0] / bytes_a_second)
        axes.curve((foot, peak / bytes_a_second), (foot * bytes_a_second, peak), colour)
        at, side, anchor = (0.13, 10, "lm") if colour == ORANGE else (0.2, -8, "rm")
        across, down = axes.place(at, at * bytes_a_second)
        sheet.text(across + side, down, name.split()[-1], 12, colour, anchor)
    first = min(peak * x / rate for _, x, rate in points[:2])
    axes.curve((first, X[1]), (peak, peak), BLUE)
    across, down = axes.place(3, peak)
    sheet.text(across, down - 14, "arithmetic", 12, BLUE)
    for number, (name, x, rate) in enumerate(points):
        across, down = axes.place(x, rate)
        sheet.dot((across, down), 4, INK)
        on_a_slope, under_the_roof = number < 2, rate > 0.8 * peak
        beside = (11, 3) if on_a_slope else (0, 14) if under_the_roof else (-11, 1)
        sheet.text(across + beside[0], down + beside[1], str(number + 1), 12)
        sheet.text(ROOFLINE[0] + 170, ROOFLINE[1] + 130 + 19 * number, f"{number + 1}  {name}", 12, INK, "lm")


def draw_ways(sheet, ways):
    """Several ways of doing the same, as bars; the longest has the full width."""
    left, width, top = 460, 270, 54
    sheet.text(left - 20, 24, "The same result in other ways", 15, INK, "lm")
    for name, bars in ways.items():
        longest = max(ms for _, ms in bars)
        sheet.text(left - 20, top, name, 12, INK, "lm")
        for row, (label, ms) in enumerate(bars):
            y, length = top + 11 + 20 * row, max(width * ms / longest, 2)
            sheet.box(left, y, length, 16, "#cfe0fa" if row else FAINT, BLUE if row else QUIET)
            time = f"{ms:.2g} ms" if ms < 10 else f"{ms:.0f} ms"
            if text_width(label, 11) + 16 <= length:
                sheet.text(left + 8, y + 8, label, 11, INK, "lm")
                sheet.text(left + length + 8, y + 8, time, 11, INK, "lm")
            else:  # beside the bar, after the time
                sheet.text(left + length + 8, y + 8, f"{time},  {label}", 11, INK, "lm")
        top += 24 + 20 * len(bars)


def draw_case(sheet, top, case):
    """Bars of one model: images a second, variant by variant, and page faults as numbers."""
    left, width = 220, 430
    most = max(case["products_alone"], *(v["images_per_second"] for v in case["variants"]))
    title = f"{case['model']}, batch {case['batch']}: images a second"
    sheet.text(20, top, title, 15, INK, "lm")
    sheet.text(820, top, "page faults a step", 12, QUIET, "rm")
    for row, variant in enumerate(case["variants"]):
        y, rate = top + 20 + 27 * row, variant["images_per_second"]
        last = row == len(case["variants"]) - 1
        sheet.text(left - 10, y + 10, LABELS[variant["name"]], 12, INK, "rm")
        length = width * rate / most
        sheet.box(left, y, length, 20, "#cfe0fa" if last else FAINT, BLUE if last else QUIET)
        sheet.text(left + length + 8, y + 10, f"{rate:,.0f}", 12, INK, "lm")
        faults = variant["faults_per_step"]
        sheet.text(820, y + 10, "-" if faults is None else f"{faults:,}", 12, QUIET, "rm")
    across = left + width * case["products_alone"] / most
    sheet.line([(across, top + 14), (across, top + 155)], ORANGE, 1.5)
    sheet.text(across + 6, top + 28, "matrix products", 11, ORANGE, "lm")
    sheet.text(across + 6, top + 42, f"alone: {case['products_alone']:,.0f}", 11, ORANGE, "lm")


if __name__ == "__main__":
    main()
