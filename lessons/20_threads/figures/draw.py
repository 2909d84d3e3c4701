"""Draw this lesson's figure from measured.json: python -m lessons.20_threads.figures.draw"""

import json
from pathlib import Path

from lessons.drawing import BLUE, FAINT, INK, ORANGE, QUIET, Sheet

HERE = Path(__file__).parent
LABELS = {
    "whole": "whole batch, all tokens",
    "token": "+ one row in the last block",
    "memory": "+ freed memory is kept",
    "pieces": "+ micro-batches, in turn",
    "threads": "+ micro-batches on threads",
}


def main(measured=HERE / "measured.json", folder=HERE):
    result = json.loads(Path(measured).read_text("utf-8"))
    sheet = Sheet(840, 60 + 190 * len(result["cases"]))
    for number, case in enumerate(result["cases"]):
        draw_case(sheet, 30 + 190 * number, case)
    machine = result["machine"]
    cores = f"{machine['threads']} core{'s' if machine['threads'] > 1 else ''}"
    words = f"{machine['processor']}, {cores}, {machine['system']}, NumPy {machine['numpy']}"
    sheet.text(20, sheet.size[1] - 18, words, 11, QUIET, "lm")
    sheet.save(Path(folder) / "steps.png")


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
