"""Draw this lesson's figures: python -m lessons.27_scaling.figures.draw [SCALING POSITIONS]

study.png is drawn from measured.json beside this file. With the folders of two studies of tinyvit.study, what
the lesson needs of their results is copied there first.
"""

import json
import sys
from importlib import import_module
from pathlib import Path

import numpy as np

from lessons.drawing import AXIS, BLUE, INK, ORANGE, QUIET, Axes, Sheet
from tinyvit.pictures.colours import SERIES

HERE = Path(__file__).parent
LINES = {
    "depth x 2": ("depth-2", "base", "depth-8"),
    "width x 2": ("width-32", "base", "width-128"),
    "MLP width x 2": ("mlp-64", "base", "mlp-256"),
    "patches of half the side": ("patch-16", "base", "patch-4"),
    "depth, width and MLP x 2": ("all-half", "base", "all-double"),
}


def main(*studies):
    if studies:
        copy(*(json.loads(Path(study, "results.json").read_text("utf-8")) for study in studies))
    draw_floor()
    draw_study()


def copy(scaling, positions):
    """For each variant its cost and what its runs came to; of the other study, the runs alone."""
    kept = {
        "command": scaling["command"],
        "variants": [
            {
                "name": variant["name"],
                "parameters": variant["runs"][0]["parameters"],
                "multiply_adds": variant["runs"][0]["multiply_adds"],
                "accuracies": accuracies(variant),
                "seconds": [round(run["seconds"]) for run in variant["runs"]],
            }
            for variant in scaling["variants"]
        ],
        "other_command": positions["command"],
        "other_accuracies": {variant["name"]: accuracies(variant) for variant in positions["variants"]},
    }
    (HERE / "measured.json").write_text(json.dumps(kept, indent=1) + "\n", "utf-8")


def accuracies(variant):
    return [run["accuracy"] for run in variant["runs"]]


def draw_floor():
    """A straight line through five points with a floor, and the same points with the floor taken off."""
    fit_power_law = import_module("lessons.27_scaling.solution").fit_power_law
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
    """Accuracy over compute, a line for each size that was scaled; a dot for every run."""
    found = json.loads((HERE / "measured.json").read_text("utf-8"))["variants"]
    found = {variant["name"]: variant for variant in found}
    sheet = Sheet(780, 380)
    axes = Axes(sheet, (60, 50, 600, 330), (0.36e6, 21.5e6), (0.3, 0.47), "x")
    axes.y_name("right on the 10,000 test images of CIFAR-10 (JPEG copy) after one epoch")
    axes.y_ticks((0.3, 0.35, 0.4, 0.45), ("30 %", "35 %", "40 %", "45 %"))
    axes.x_ticks((5e5, 1e6, 2e6, 5e6, 1e7, 2e7), ("0.5 M", "1 M", "2 M", "5 M", "10 M", "20 M"))
    axes.x_name("multiply-adds of a forward pass on one image")
    axes.frame()
    for (line, names), colour in zip(LINES.items(), SERIES, strict=False):
        points = [(found[n]["multiply_adds"], float(np.mean(found[n]["accuracies"]))) for n in names]
        axes.curve(*zip(*points, strict=True), colour, 1.8)
        for name in names:
            for value in found[name]["accuracies"]:
                sheet.dot(axes.place(found[name]["multiply_adds"], value), 3.5, colour)
        right, up = axes.place(*points[-1])
        if line.startswith("width"):  # beside its dot, another line runs
            sheet.text(right, up + 16, line, 12, colour)
        else:
            sheet.text(right + 10, up, line, 12, colour, "lm")
    for value in found["base"]["accuracies"]:
        sheet.dot(axes.place(found["base"]["multiply_adds"], value), 4.5, INK)
    sheet.save(HERE / "study.png")


if __name__ == "__main__":
    if len(sys.argv) not in (1, 3):
        sys.exit(__doc__)
    main(*sys.argv[1:])
