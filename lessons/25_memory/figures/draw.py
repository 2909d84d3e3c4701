"""Draw this lesson's figure from measured.json: python -m lessons.25_memory.figures.draw"""

import json
from pathlib import Path

from lessons.drawing import BLUE, FAINT, GREEN, INK, ORANGE, QUIET, Axes, Sheet

HERE = Path(__file__).parent
ROOFLINE = (60, 70, 390, 300)  # left, top, right, bottom
X, Y = (1 / 20, 60.0), (1.0, 200.0)  # its axes: multiply-adds a byte, 1e9 multiply-adds a second


def main(measured=HERE / "measured.json", folder=HERE):
    result = json.loads(Path(measured).read_text("utf-8"))
    sheet = Sheet(840, 370)
    draw_roofline(sheet, result["operations"])
    draw_ways(sheet, result["operations"]["ways"])
    machine = result["machine"]
    words = f"One core of {machine['processor']}, {machine['system']}, NumPy {machine['numpy']}"
    sheet.text(440, 352, words, 11, QUIET, "lm")
    sheet.save(Path(folder) / "operations.png")


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
        at, side, anchor = (0.14, 16, "lm") if colour == ORANGE else (0.2, -14, "rm")
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
        beside = (12, 5) if on_a_slope else (0, 15) if under_the_roof else (-11, 1)
        sheet.text(across + beside[0], down + beside[1], str(number + 1), 12)
        sheet.text(ROOFLINE[0] + 170, ROOFLINE[1] + 130 + 19 * number, f"{number + 1}  {name}", 12, INK, "lm")


def draw_ways(sheet, ways):
    """Several ways of doing the same, as bars; the longest of each group has the full width."""
    left, width, top = 620, 150, 54
    sheet.text(440, 24, "The same result in other ways", 15, INK, "lm")
    for name, bars in ways.items():
        longest = max(ms for _, ms in bars)
        sheet.text(440, top, name, 12, INK, "lm")
        for row, (label, ms) in enumerate(bars):
            y, length = top + 11 + 20 * row, max(width * ms / longest, 2)
            sheet.box(left, y, length, 16, "#cfe0fa" if row else FAINT, BLUE if row else QUIET)
            time = f"{ms:.2g} ms" if ms < 10 else f"{ms:.0f} ms"
            sheet.text(left - 10, y + 8, label, 11, QUIET, "rm")
            sheet.text(left + length + 8, y + 8, time, 11, INK, "lm")
        top += 24 + 20 * len(bars)


if __name__ == "__main__":
    main()
