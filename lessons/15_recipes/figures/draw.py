"""Draw this lesson's figures: python -m lessons.15_recipes.figures.draw [STUDY]

study.png is drawn from measured.json beside this file. With the folder of ingredients.py's study, what the
lesson needs of its results is copied there first: only comparisons of which both sides have been run.
"""

import importlib
import json
import math
import sys
from pathlib import Path

import numpy as np

from lessons.drawing import AXIS, BLUE, INK, ORANGE, QUIET, Axes, Sheet, nice_ticks
from lessons.star import star
from tinyvit.data import make_shapes
from tinyvit.data.mixing import Mixing, mix_images
from tinyvit.insight.pictures import sheet as fine  # with one pixel a point
from tinyvit.insight.pictures.axes import legend_width
from tinyvit.insight.pictures.colours import GRID, SERIES, tint
from tinyvit.insight.pictures.sheet import cut, text_width

comparisons = importlib.import_module("lessons.15_recipes.ingredients").comparisons
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
    """A copy of a study in measured.json: settings, the accuracies of every variant, and the comparisons."""
    kept = {name: study[name] for name in ("dataset", "common")}
    variants = [variant for variant in study["variants"] if variant["runs"]]
    kept["accuracies"] = {
        variant["name"]: [run["accuracy"] for run in variant["runs"] if not run["diverged"]]
        for variant in variants
    }
    kept["comparisons"] = compared(kept["accuracies"], study["size"])
    (HERE / "measured.json").write_text(json.dumps(kept, indent=1) + "\n", "utf-8")


def compared(accuracies, size):
    """Every comparison: the gain, for each seed too, and its standard error by one spread for all."""
    lists = [np.array(x) for x in accuracies.values() if x]
    squares = sum(((x - x.mean()) ** 2).sum() for x in lists)
    freedom = sum(len(x) - 1 for x in lists)
    found = []
    for name, beside, added, without in comparisons(size):
        if not (accuracies.get(added) and accuracies.get(without)):
            continue
        x, y = np.array(accuracies[added]), np.array(accuracies[without])
        one = {
            "name": name,
            "beside": beside,
            "added": added,
            "without": without,
            "gain": x.mean() - y.mean(),
        }
        one["gain_by_seed"] = (x - y).tolist() if len(x) == len(y) else []
        error = math.sqrt(squares / freedom * (1 / len(x) + 1 / len(y))) if freedom else None  # eq. 7 and 8
        found.append(one | {"standard_error": error})
    return found


def draw_values():
    """The effect of five steps on a singular value: of Muon's polynomial, and of a gentler one."""
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
    """The gain of an ingredient in the plain recipe and in the full one: a row for each, around a line at 0.

    A mark is at the gain, pale dots at the gains of single seeds, and a line reaches two standard errors to
    either side.
    """
    measured = json.loads((HERE / "measured.json").read_text("utf-8"))
    found, run = measured["comparisons"], measured["common"]
    passes = run["steps"] * run["batch_size"] / 50_000
    seeds = max(len(values) for values in measured["accuracies"].values())
    subtitle = f"{run['model']} on CIFAR-10 (JPEG copy), passes: {passes:.2g}, seeds: {seeds}"
    names = list(dict.fromkeys(one["name"] for one in found))
    places = list(dict.fromkeys(one["beside"] for one in found))
    width, top, row, below = 900, 122, 46, 64  # of the picture, above the first row, a row, below the last
    left = 40 + max(text_width(name, 16) for name in names) + 24
    right, bottom = width - 40, top + row * len(names)
    sheet = fine.Sheet(width, bottom + below)
    sheet.text(40, 32, cut("What each ingredient is worth", width - 80, 20), 20, INK, "lm")
    sheet.text(40, 60, cut(subtitle, width - 80, 14), 14, QUIET, "lm")
    ends = [end for one in found for end in (0.0, *reach(one), *points(one))]
    pad = max(0.2, 0.05 * (max(ends) - min(ends)))
    ticks = nice_ticks(min(ends) - pad, max(ends) + pad)
    axes = Axes(sheet, (left, top, right, bottom), (ticks[0], ticks[-1]), (0, 1))
    axes.x_ticks(ticks, [f"{tick:+g}" if tick else "0" for tick in ticks], size=13, grid=True)
    sheet.text(right, bottom + 42, "points of test accuracy gained", 13, QUIET, "rm")
    zero, _ = axes.place(0, 0)
    sheet.line([(zero, top), (zero, bottom)], INK, 1.5)
    for i, name in enumerate(names):
        middle = top + row * (i + 0.5)
        if i:
            sheet.line([(40, top + row * i), (right, top + row * i)], GRID, 1)
        sheet.text(left - 12, middle, name, 16, INK, "rm")
        for one in (one for one in found if one["name"] == name):
            k = places.index(one["beside"])
            y, colour = middle + 9 * (2 * k - len(places) + 1), SERIES[k]
            if one["standard_error"] is not None:
                sheet.line([(axes.place(end, 0)[0], y) for end in reach(one)], tint(colour, 0.7), 2)
            for gain in points(one):
                sheet.dot((axes.place(gain, 0)[0], y), 3, tint(colour, 0.55))
            sheet.dot((axes.place(100 * one["gain"], 0)[0], y), 5, colour)
    x = 46.0
    for place, colour in zip(places, SERIES, strict=False):
        sheet.dot((x, 92), 5, colour)
        sheet.text(x + 12, 92, f"in the {place}", 15, INK, "lm")
        x += legend_width(f"in the {place}", 15)
    sheet.save(HERE / "study.png")


def reach(one):
    """The ends of the line of a comparison, in points."""
    error = 2 * (one["standard_error"] or 0.0)
    return 100 * (one["gain"] - error), 100 * (one["gain"] + error)


def points(one):
    """The gains of single seeds, if there are several, in points."""
    return [100 * gain for gain in one["gain_by_seed"]] if len(one["gain_by_seed"]) > 1 else []


if __name__ == "__main__":
    if len(sys.argv) > 2:
        sys.exit(__doc__)
    main(*sys.argv[1:])
