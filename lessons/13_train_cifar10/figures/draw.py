"""Draw this lesson's figures: python -m lessons.13_train_cifar10.figures.draw [RUN DATA_DIR]

four_runs.png and ablation.png are drawn from the numbers beside this file, which short_runs.py and ablate.py
write; curve.png from metrics.jsonl. With a run folder and the folder of CIFAR-10, metrics.jsonl is copied
from the run, and confusion.png and mistakes.png are drawn.
"""

import json
import math
import shutil
import sys
from pathlib import Path

import numpy as np

import tinyvit
from lessons.drawing import AXIS, BLUE, INK, ORANGE, QUIET, Axes, Sheet
from tinyvit.data.cifar import load_cifar
from tinyvit.insight.pictures.curves import draw_curves
from tinyvit.insight.pictures.evaluation import Mistake, draw_confusion, draw_mistakes
from tinyvit.training.evaluation import confusion_counts, worst_mistakes

HERE = Path(__file__).parent
SOURCE = "CIFAR-10, JPEG copy"


def main(run=None, data_dir=None):
    if run:
        shutil.copy(Path(run) / "metrics.jsonl", HERE / "metrics.jsonl")
        draw_evaluation(run, data_dir)
    draw_curve()
    draw_four_runs()
    draw_ablation()


def draw_evaluation(run, data_dir):
    """The confusion of the best epoch on the test images, and twelve confident mistakes."""
    model, test = tinyvit.load(run), load_cifar("cifar10", Path(data_dir)).test
    probabilities = model.probabilities(test.images)
    said = probabilities.argmax(axis=1)
    counts = confusion_counts(test.labels, said, 10)
    title = f"{SOURCE}  ·  10,000 test images  ·  {100 * (said == test.labels).mean():.1f}% right"
    draw_confusion(counts, model.names, HERE / "confusion.png", title)
    wrong = counts - np.diag(np.diag(counts))
    for place in np.argsort(-wrong.ravel())[:6]:
        is_a, called = divmod(int(place), 10)
        print(f"{wrong[is_a, called]} of {model.names[is_a]} called {model.names[called]}")
    print("by class", dict(zip(model.names, (np.diag(counts) / counts.sum(axis=1)).round(3), strict=True)))
    worst = worst_mistakes(test.labels, probabilities, 12)
    mistakes = [
        Mistake(test.images[i], model.names[said[i]], float(probabilities[i, said[i]]), model.names[label])
        for i, label in zip(worst, test.labels[worst], strict=True)
    ]
    draw_mistakes(mistakes, HERE / "mistakes.png", f"{SOURCE}  ·  the twelve most confident mistakes")


def draw_curve():
    """The whole curve of the run on CIFAR-10."""
    lines = (HERE / "metrics.jsonl").read_text("utf-8").splitlines()
    records = [json.loads(line) for line in lines]
    best = max(records, key=lambda record: record["val_accuracy"])["epoch"]
    draw_curves(records, HERE / "curve.png", f"{SOURCE}, micro/8", best)


def draw_four_runs():
    """Two losses of four runs on the shapes; the flat ones magnified."""
    runs = json.loads((HERE / "four_runs.json").read_text("utf-8"))
    sheet = Sheet(760, 556)
    panels = (
        ("Learning", "3,000 images, learning rate 0.002", runs["learning"], (0, 0.5, 2.5)),
        ("Learning rate too low", "the same with 0.00002; magnified", runs["too low"], (2.2, 0.05, 2.35)),
        ("Learning rate too high", "the same with 0.03; magnified", runs["too high"], (2.2, 0.05, 2.35)),
        ("Overfitting", "300 images, 60 epochs, no augmentation", runs["overfitting"], (0, 1, 5)),
    )
    for number, (title, meaning, records, (low, step, high)) in enumerate(panels):
        count, guessing = len(records), math.log(10)
        left, top = 60 + 370 * (number % 2), 70 + 256 * (number // 2)
        sheet.text(left, top - 44, title, 15, INK, "lm")
        sheet.text(left, top - 24, meaning, 12, QUIET, "lm")
        axes = Axes(sheet, (left, top, left + 280, top + 140), (1, count), (low, high))
        axes.curve((1, count), (guessing, guessing), AXIS, 1.2)
        axes.frame()
        axes.y_ticks(np.arange(low, high + step / 2, step).tolist(), grid=False)
        axes.x_ticks((1, count // 2, count))
        axes.x_name("epoch")
        ends = [(count, guessing, "log 10", QUIET)]
        for key, colour in (("train_loss", BLUE), ("val_loss", ORANGE)):
            losses = [record[key] for record in records]
            axes.curve(range(1, count + 1), losses, colour)
            ends.append((count, losses[-1], f"{losses[-1]:.2f}", colour))
        axes.label_ends(ends)
    sheet.text(60, 536, "loss on the training images", 13, BLUE, "lm")
    sheet.text(280, 536, "loss on 500 images held out", 13, ORANGE, "lm")
    sheet.text(500, 536, "grey: blind guessing, log 10", 13, QUIET, "lm")
    sheet.save(HERE / "four_runs.png")


def draw_ablation():
    """Training loss and held-out accuracy of four runs: with and without crops and flips, two seeds each."""
    runs = json.loads((HERE / "ablation.json").read_text("utf-8"))
    sheet = Sheet(780, 320)
    sheet.text(50, 24, f"{SOURCE}: 3,000 training images, 2,000 held out, nano/8", 15, INK, "lm")
    for number, (title, column, scale, high, step) in enumerate(
        (
            ("loss on the training images", 0, 1, 2.5, 0.5),
            ("accuracy on the held-out images, %", 2, 100, 50, 10),
        )
    ):
        left = 50 + 375 * number
        epochs = len(runs[0]["epochs"])
        axes = Axes(sheet, (left, 84, left + 255, 244), (1, epochs), (0, high))
        axes.y_ticks(np.arange(0, high + step / 2, step).tolist())
        axes.frame(AXIS)
        axes.x_ticks((1, 5, 10, 15, 20, 25))
        axes.x_name("epoch")
        sheet.text(left, 58, title, 13, INK, "lm")
        ends = []
        for run in runs:
            values = scale * np.array(run["epochs"])[:, column]
            colour = BLUE if run["augment"] else ORANGE
            axes.curve(range(1, epochs + 1), values.tolist(), colour, 2 if run["seed"] == 0 else 1.2)
            form = "{:.2f}" if column == 0 else "{:.1f}"
            ends.append((epochs, float(values[-1]), f"{form.format(values[-1])}  seed {run['seed']}", colour))
        axes.label_ends(ends)
    sheet.text(50, 302, "with crops and flips", 13, BLUE, "lm")
    sheet.text(220, 302, "without", 13, ORANGE, "lm")
    sheet.save(HERE / "ablation.png")


if __name__ == "__main__":
    if len(sys.argv) not in (1, 3):
        sys.exit(__doc__)
    main(*sys.argv[1:])
