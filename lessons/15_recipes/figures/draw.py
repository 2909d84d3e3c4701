"""Draw this lesson's figures: python -m lessons.15_recipes.figures.draw [STUDY]

study.png is drawn from measured.json beside this file. With the folder of a study of ingredients, what the
lesson needs of its results is copied there first: only comparisons of which both sides have been run.
"""

import json
import sys
from pathlib import Path

import numpy as np

from lessons.drawing import AXIS, BLUE, INK, ORANGE, QUIET, Axes, Sheet
from lessons.star import star
from tinyvit.data import make_shapes
from tinyvit.data.mixing import Mixing, mix_images
from tinyvit.pictures.worth import Difference, draw_worth

HERE = Path(__file__).parent
MUON = (3.4445, -4.7750, 2.0315)
CUBIC = (1.5, -0.5, 0.0)


def main(study=None):
    if study:
        copy(json.loads(Path(study, "results.json").read_text("utf-8")))
    draw_values()
    draw_mixing()
    draw_study()


def copy(study):
    """What was run, the accuracies of every variant, and which of them are compared."""
    kept = {name: study[name] for name in ("dataset", "common")}
    variants = [variant for variant in study["variants"] if variant["runs"]]
    kept["accuracies"] = {
        variant["name"]: [run["accuracy"] for run in variant["runs"] if not run["diverged"]]
        for variant in variants
    }
    kept["comparisons"] = study["comparisons"]
    (HERE / "measured.json").write_text(json.dumps(kept, indent=1) + "\n", "utf-8")


def draw_values():
    """What five steps make of a singular value: by the polynomial of Muon, and by a gentler one."""
    sheet = Sheet(780, 300)
    axes = Axes(sheet, (70, 50, 560, 240), (1e-4, 1), (0, 1.3), "x")
    axes.y_name("after five steps")
    axes.y_ticks((0, 0.5, 1), ("0", "0.5", "1"))
    axes.x_ticks((1e-4, 1e-3, 1e-2, 1e-1, 1), ("0.0001", "0.001", "0.01", "0.1", "1"))
    axes.x_name("singular value, divided by the norm of the matrix")
    axes.frame()
    axes.curve((1e-4, 1), (1, 1), AXIS, 1.2, dashed=True)
    start = np.geomspace(1e-4, 1, 400)
    for (a, b, c), colour in ((MUON, BLUE), (CUBIC, ORANGE)):
        s = start
        for _ in range(5):
            s = a * s + b * s**3 + c * s**5
        axes.curve(start, s, colour)
    for y, text, colour in (
        (0.92, "3.4445 s - 4.7750 s^3 + 2.0315 s^5", BLUE),
        (0.70, "1.5 s - 0.5 s^3", ORANGE),
    ):
        axes.sheet.text(574, axes.place(1, y)[1], text, 12, colour, "lm")
    sheet.save(HERE / "values.png")


def draw_mixing():
    """A picture of stars and one of rings: blended, and with a rectangle pasted."""
    dataset = make_shapes(train=400, test=20)
    ring = dataset.train.images[int(np.argmax(dataset.train.labels == dataset.classes.index("ring")))]
    both = np.stack([star(), ring]).astype("float64") / 255
    sheet = Sheet(780, 232)
    shown = [("one picture", both[0], "star 1"), ("the next", both[1], "ring 1")]
    for name, pasted in (("mixup", False), ("CutMix", True)):
        mixing = Mixing(np.full(2, 0.7), np.full(2, pasted), np.full(2, 0.45), np.full(2, 0.6))
        share = float(mixing.shares(32, 32)[0])
        image = mix_images(both, both[:1], mixing)[0]
        shown.append((name, image, f"star {1 - share:.2f}, ring {share:.2f}"))
    for i, (name, image, target) in enumerate(shown):
        x = 30 + 188 * i
        sheet.text(x + 72, 20, name, 14, INK)
        sheet.image(x, 38, (255 * image).round().astype(np.uint8), 144)
        sheet.text(x + 72, 204, target, 13, QUIET)
    sheet.save(HERE / "mixing.png")


def draw_study():
    """Every comparison of the study: what an ingredient gains in the plain recipe and in the full one."""
    measured = json.loads((HERE / "measured.json").read_text("utf-8"))
    found = [
        Difference(
            one["name"],
            one["beside"],
            100 * one["gain"],
            [100 * gain for gain in one["gain_by_seed"]],
            one["standard_error"] and 100 * one["standard_error"],
        )
        for one in measured["comparisons"]
    ]
    run = measured["common"]
    passes = run["steps"] * run["batch_size"] / 50_000
    seeds = max(len(values) for values in measured["accuracies"].values())
    subtitle = f"{run['model']} on CIFAR-10 (JPEG copy), passes: {passes:.2g}, seeds: {seeds}"
    draw_worth("What each ingredient is worth", subtitle, found, HERE / "study.png")


if __name__ == "__main__":
    if len(sys.argv) > 2:
        sys.exit(__doc__)
    main(*sys.argv[1:])
