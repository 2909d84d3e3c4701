"""Draw this lesson's figures from a run trained on CIFAR-10 (minutes: it also fine-tunes):

python -m tinyvit.train --dataset cifar10 --threads 1 --out RUN
python -m lessons.21_pretrained.figures.draw RUN
"""

import sys
from dataclasses import replace
from pathlib import Path

import numpy as np

import tinyvit
from lessons.drawing import BLUE, GREEN, INK, ORANGE, QUIET, RED, Axes, Sheet
from tinyvit.analysis.few_shot import choose_shots
from tinyvit.analysis.position_similarity import position_similarity
from tinyvit.data.shapes import make_shapes
from tinyvit.fewshot import accuracies
from tinyvit.model import initialise

HERE = Path(__file__).parent
SHOTS, SEEDS = [1, 5, 25, 100, 400], 3
TUNED = {100: 8, 400: 4}  # shots: passes over the images


def main(run):
    model = tinyvit.load(run, threads=1)
    draw_positions(model)
    draw_transfer(*measure(model))


def draw_positions(trained):
    """One channel of the position table, and one map of similarity, before and after 32 -> 64 pixels."""
    table = places_of(trained)
    smooth = (table[1:] * table[:-1]).sum((0, 1)) / (table * table).sum((0, 1))
    channel = int(smooth.argmax())  # the channel whose neighbours are most alike
    sheet = Sheet(800, 600)
    side = 208
    columns = [("as trained, 8 x 8", trained)]
    for method in ("corners", "bilinear"):
        columns.append((f"{method}, 16 x 16", trained.at_resolution(64, method)))
    for number, (title, model) in enumerate(columns):
        left, count = 120 + 228 * number, model.config.grid[0]
        places = places_of(model)
        sheet.text(left + side / 2, 24, title, 15)
        limit = float(np.abs(table[..., channel]).max())
        sheet.grid(left, 44, places[..., channel], side / count, None, limit)
        row, column = 2 * count // 8, 5 * count // 8
        similarity = position_similarity(model.config, model.params)[row, column]
        sheet.grid(left, 272, similarity, side / count, None, 1.0)
        wave = places[2 * count // 8, :, channel]
        at = (np.arange(count) + 0.5) / count
        middle, height = 550, 44 / limit
        sheet.line([(left, middle), (left + side, middle)], QUIET, 0.7)
        points = [(left + side * a, middle - height * v) for a, v in zip(at, wave, strict=True)]
        sheet.line(points, BLUE, 1.5)
        for point in points:
            sheet.dot(point, 2, BLUE)
    for y, lines in ((148, ("one channel", "of the table")), (376, ("how alike to", "one place"))):
        sheet.text(14, y - 9, lines[0], 13, INK, "lm")
        sheet.text(14, y + 9, lines[1], 13, INK, "lm")
    sheet.text(14, 541, "a row of", 13, INK, "lm")
    sheet.text(14, 559, "the channel", 13, INK, "lm")
    sheet.save(HERE / "positions.png")
    print("channel", channel)


def places_of(model):
    """The position table without the class token's row, (gh, gw, D)."""
    config = model.config
    return model.params["position"][config.has_token :].reshape(*config.grid, -1)


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
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    main(sys.argv[1])
