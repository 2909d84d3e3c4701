"""Draw this lesson's figure from measured.json: python -m lessons.27_fast_cpu.figures.draw"""

import json
from pathlib import Path

from lessons.drawing import BLUE, INK, QUIET, Axes, Sheet

HERE = Path(__file__).parent


def main(measured=HERE / "measured.json", folder=HERE):
    result = json.loads(Path(measured).read_text("utf-8"))
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
