"""Draw this lesson's figures: python -m lessons.18_transfer.figures.draw

draws shares.png. transfer.png needs a run that was trained on CIFAR-10, and takes minutes, as it fine-tunes:

    python -m tinyvit.train --dataset cifar10 --init official --pool token --optimizer adamw --out RUN
    python -m lessons.18_transfer.figures.draw RUN
"""

import sys
from dataclasses import replace
from pathlib import Path

import numpy as np

import tinyvit
from lessons.drawing import BLUE, GREEN, INK, ORANGE, QUIET, RED, Axes, Sheet
from tinyvit.data import normalise
from tinyvit.data.shapes import make_shapes
from tinyvit.fewshot import accuracies
from tinyvit.insight.few_shot import RIDGE, choose_shots
from tinyvit.model import initialise

HERE = Path(__file__).parent
SHOTS, SEEDS = [1, 5, 25, 100, 400], 3
TUNED = {100: 8, 400: 4}  # shots: passes over the images


def main(run=None):
    draw_shares()
    if run:
        draw_transfer(*measure(tinyvit.load(run, threads=1)))


def draw_shares():
    """One template from pixels, and the training pictures with the largest and the most negative shares."""
    data = make_shapes(train=1000, test=20, seed=0)
    x = normalise(data.train.images, np.float64).reshape(1000, -1)
    centred = x - x.mean(axis=0)
    wanted = 2.0 * (data.train.labels[:, None] == np.arange(10)) - 1
    label = data.classes.index("star")
    A = np.linalg.solve(centred @ centred.T + RIDGE * np.eye(1000), wanted - wanted.mean(axis=0))
    template, shares = (centred.T @ A)[:, label].reshape(32, 32, 3), A[:, label]
    order = np.argsort(-shares)
    chosen = [*order[:3], *order[:-4:-1]]  # the largest shares, and the most negative ones
    sheet = Sheet(800, 190)
    limit = np.quantile(np.abs(template), 0.99)
    sheet.text(20, 24, "the template for the star", 13, INK, "lm")
    sheet.image(20, 42, (127.5 + 127.5 * (template / limit).clip(-1, 1)).astype(np.uint8), 96)
    sheet.text(138, 90, "=", 18)
    for number, i in enumerate(chosen):
        left = 160 + 100 * number
        sheet.image(left, 42, data.train.images[i], 82)
        sign = "+" if shares[i] > 0 else "-"
        sheet.text(left + 41, 140, f"{sign} {abs(shares[i]) * 1e3:.1f} / 1000", 12, INK)
        sheet.text(left + 41, 158, data.classes[data.train.labels[i]], 11, QUIET)
    sheet.text(770, 83, "+ ...", 14)
    sheet.save(HERE / "shares.png")


def measure(trained):
    """Test accuracy on shapes in percent: of probes for each of SHOTS, of fine-tuning for those of TUNED."""
    data = make_shapes()
    starts = trained, replace(trained, params=initialise(trained.config))
    probes = [100 * accuracies(model, data, SHOTS, SEEDS).mean(axis=1) for model in starts]
    tuned = [
        [100 * fine_tuned(model, data, shots, passes) for shots, passes in TUNED.items()] for model in starts
    ]
    print(probes, tuned)
    return probes, tuned


def draw_transfer(probes, tuned):
    """The accuracies against the number of labelled images."""
    sheet = Sheet(800, 400)
    axes = Axes(sheet, (80, 40, 550, 330), (1, SHOTS[-1]), (0, 100), "x")
    shares = range(0, 101, 20)
    axes.y_ticks(shares, [f"{share}%" for share in shares], 12)
    axes.x_ticks(SHOTS, size=12)
    axes.x_name("labelled images of each of the ten shapes", 13)
    axes.y_name("right on 2,000 test images", 13)
    axes.curve((1, SHOTS[-1]), (10, 10), QUIET, 1, dashed=True)
    ends = [(SHOTS[-1], 10, "guessing", QUIET)]
    curves = (
        (SHOTS, probes[0], BLUE, "probe, CIFAR-10 features"),
        (SHOTS, probes[1], ORANGE, "probe, features of a fresh model"),
        (list(TUNED), tuned[0], GREEN, "fine-tuned from CIFAR-10"),
        (list(TUNED), tuned[1], RED, "trained from scratch, as long"),
    )
    for shots, shares, colour, name in curves:
        axes.curve(shots, shares, colour)
        for n, share in zip(shots, shares, strict=True):
            sheet.dot(axes.place(n, share), 3, colour)
        ends.append((shots[-1], shares[-1], name, colour))
    axes.label_ends(ends, beside=10)
    sheet.save(HERE / "transfer.png")


def fine_tuned(model, data, shots, passes):
    """Share of the test images right after so many passes over `shots` images a class, all weights moving."""
    model = model.with_new_head(len(data.classes))
    chosen = data.train.take(choose_shots(data.train.labels, data.classes, shots, 0))
    model.fit(
        chosen.images,
        chosen.labels,
        epochs=passes,
        batch_size=50,
        optimizer="adam",
        lr=1e-3,
        weight_decay=0.0,
        warmup_epochs=passes / 10,
    )
    return float((model.logits(data.test.images).argmax(axis=1) == data.test.labels).mean())


if __name__ == "__main__":
    main(*sys.argv[1:2])
