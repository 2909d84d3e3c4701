"""Draw this lesson's figures: python -m lessons.16_scaling.figures.draw [SCALING ... DATA POSITIONS]

study.png is drawn from measured.json beside this file. With the folders of finished studies, of scaling at
two learning rates, of data and of positions, what the lesson needs of their results is copied there first.
"""

import json
import sys
from importlib import import_module
from pathlib import Path

import numpy as np

from lessons.drawing import AXIS, BLUE, INK, ORANGE, QUIET, Axes, Sheet
from tinyvit.insight.pictures.colours import SERIES

HERE = Path(__file__).parent
LINES = {
    "depth": ("depth-2", "base", "depth-8"),
    "width": ("width-32", "base", "width-128"),
    "MLP width": ("mlp-64", "base", "mlp-256"),
    "patch size": ("patch-16", "base", "patch-4"),
    "the first three at once": ("all-half", "base", "all-double"),
}


def main(*studies):
    if studies:
        copy(*(json.loads(Path(study, "results.json").read_text("utf-8")) for study in studies))
    draw_floor()
    draw_study()


def copy(*studies):
    """The cost of each variant, and what its runs came to at each rate; of the others, the runs alone."""
    *scaling, data, positions = studies
    first = {variant["name"]: variant["runs"][0] for variant in scaling[0]["variants"]}
    kept = {
        "parameters": {name: run["parameters"] for name, run in first.items()},
        "multiply_adds": {name: run["multiply_adds"] for name, run in first.items()},
        "accuracies": {str(study["common"]["lr"]): accuracies(study) for study in scaling},
        "data": accuracies(data),
        "positions": accuracies(positions),
    }
    (HERE / "measured.json").write_text(json.dumps(kept, indent=1) + "\n", "utf-8")


def accuracies(study):
    """The accuracies of every variant, for the seeds that all of them have."""
    seeds = min(len(variant["runs"]) for variant in study["variants"])
    return {
        variant["name"]: [run["accuracy"] for run in variant["runs"][:seeds]] for variant in study["variants"]
    }


def draw_floor():
    """A straight line through five points with a floor, and the same points with the floor taken off."""
    fit_power_law = import_module("lessons.16_scaling.solution").fit_power_law
    sheet = Sheet(780, 330)
    compute, many = np.array([1, 2, 4, 8, 16]), np.geomspace(1, 1000, 60)
    for left, floor, title in ((60, 0.2, "as measured"), (440, 0.0, "0.2 subtracted")):
        axes = Axes(sheet, (left, 70, left + 240, 250), (0.8, 1200), (0.02, 1.2), "xy")
        sheet.text(left, 26, title, 15, INK, "lm")
        axes.y_name("error")
        axes.y_ticks((0.02, 0.05, 0.1, 0.2, 0.5, 1), ("2 %", "5 %", "10 %", "20 %", "50 %", "100 %"))
        axes.x_ticks((1, 10, 100, 1000), ("1", "10", "100", "1,000"))
        axes.x_name("compute")
        axes.frame()
        error = 0.8 * compute**-0.5 + floor
        a, b = fit_power_law(compute, error)
        axes.curve(many, a * many**-b, ORANGE, 1.6, dashed=True)
        true = 0.8 * many**-0.5 + floor
        rest = "" if floor else " + 20%"
        ends = [(1000, a * 1000**-b, f"fit: {a * 1000**-b:.1%}{rest}", ORANGE)]
        if floor:
            axes.curve((0.8, 1200), (floor, floor), AXIS, 1.2, dashed=True)
            axes.curve(many, true, BLUE)
            ends.append((1000, true[-1], f"truth: {true[-1]:.1%}", BLUE))
        for point in zip(compute, error, strict=True):
            sheet.dot(axes.place(*point), 4, BLUE)
        axes.label_ends(ends)
    sheet.text(
        60,
        312,
        "Five measurements (dots), the line fitted to them (dashed), and what they were made from",
        12,
        QUIET,
        "lm",
    )
    sheet.save(HERE / "floor.png")


def draw_study():
    """Accuracy over compute at two rates: a line for each size that was scaled, a dot for every run."""
    measured = json.loads((HERE / "measured.json").read_text("utf-8"))
    work = measured["multiply_adds"]
    sheet = Sheet(860, 372)
    sheet.text(60, 24, "Right on the test images of CIFAR-10 (JPEG copy) after one epoch", 15, INK, "lm")
    for left, (rate, found) in zip(
        (60, 470), sorted(measured["accuracies"].items(), reverse=True), strict=True
    ):
        axes = Axes(sheet, (left, 76, left + 300, 270), (0.36e6, 21.5e6), (0.3, 0.47), "x")
        axes.y_name(f"learning rate {rate}", 13)
        axes.y_ticks((0.3, 0.35, 0.4, 0.45), ("30 %", "35 %", "40 %", "45 %"))
        axes.x_ticks((5e5, 1e6, 2e6, 5e6, 1e7, 2e7), ("0.5", "1", "2", "5", "10", "20"))
        axes.x_name("million multiply-adds an image")
        axes.frame()
        for names, colour in zip(LINES.values(), SERIES, strict=False):
            points = [(work[name], float(np.mean(found[name]))) for name in names]
            axes.curve(*zip(*points, strict=True), colour, 1.8)
            for name in names:
                for value in found[name]:
                    sheet.dot(axes.place(work[name], value), 3.5, colour)
        for value in found["base"]:
            sheet.dot(axes.place(work["base"], value), 4, INK)
    for x, (line, colour) in zip((60, 135, 210, 310, 410), zip(LINES, SERIES, strict=False), strict=True):
        sheet.dot((x + 5, 342), 5, colour)
        sheet.text(x + 16, 342, line, 13, INK, "lm")
    sheet.save(HERE / "study.png")


if __name__ == "__main__":
    if len(sys.argv) not in (1, 5):
        sys.exit(__doc__)
    main(*sys.argv[1:])
