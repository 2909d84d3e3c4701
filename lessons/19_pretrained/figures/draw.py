"""Draw this lesson's figures from a run trained on CIFAR-10 (minutes: it also fine-tunes):

python -m tinyvit.train --dataset cifar10 --threads 1 --out RUN
python -m lessons.19_pretrained.figures.draw RUN
"""

import sys
from pathlib import Path

import numpy as np

from lessons.drawing import BLUE, GREEN, INK, ORANGE, QUIET, RED, Axes, Sheet
from tinyvit.analysis.few_shot import choose_shots
from tinyvit.analysis.position_similarity import position_similarity
from tinyvit.backend import select_device
from tinyvit.data import normalise
from tinyvit.data.shapes import make_shapes
from tinyvit.fewshot import accuracies
from tinyvit.model import forward, initialise, loss_and_grads, with_new_head
from tinyvit.optim import make_optimizer
from tinyvit.optim.clip import clip_norm
from tinyvit.optim.schedule import learning_rate
from tinyvit.pretrained.resize import at_image_size
from tinyvit.runs.folder import RunFolder

HERE = Path(__file__).parent
SHOTS, SEEDS = [1, 5, 25, 100, 400], 3
TUNED = {100: 8, 400: 4}  # shots: passes over the images


def main(run):
    checkpoint = RunFolder.open(Path(run)).load("best")
    draw_positions(checkpoint.config, checkpoint.params)
    draw_transfer(*measure(checkpoint.config, checkpoint.params))


def draw_positions(config, params):
    """One channel of the position table, and one map of similarity, before and after 32 -> 64 pixels."""
    gh, gw = config.grid
    table = params["position"][config.has_token :].reshape(gh, gw, -1)
    smooth = (table[1:] * table[:-1]).sum((0, 1)) / (table * table).sum((0, 1))
    channel = int(smooth.argmax())  # the channel whose neighbours are most alike
    sheet = Sheet(800, 600)
    side = 208
    columns = [("as trained, 8 x 8", config, params)]
    for method in ("corners", "bilinear"):
        columns.append((f"{method}, 16 x 16", *at_image_size(config, params, 64, method)))
    for number, (title, model, values) in enumerate(columns):
        left, count = 120 + 228 * number, model.grid[0]
        places = values["position"][model.has_token :].reshape(*model.grid, -1)
        sheet.text(left + side / 2, 24, title, 15)
        limit = float(np.abs(table[..., channel]).max())
        sheet.grid(left, 44, places[..., channel], side / count, None, limit)
        row, column = 2 * count // 8, 5 * count // 8
        similarity = position_similarity(values, model)[row, column]
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


def measure(config, trained):
    """Test accuracy on shapes in percent: of probes for each of SHOTS, of fine-tuning for those of TUNED."""
    data, device = make_shapes(), select_device("cpu")
    starts = trained, initialise(config)
    probes = [
        100 * accuracies((config, params), data, SHOTS, SEEDS, device, 1).mean(axis=1) for params in starts
    ]
    tuned = [
        [100 * fine_tuned(config, params, data, shots, passes) for shots, passes in TUNED.items()]
        for params in starts
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


def fine_tuned(config, params, data, shots, passes, batch=50, peak=1e-3):
    """Share of the test images right after so many passes over `shots` images a class, all weights moving."""
    config, params = with_new_head(config, params, len(data.classes))
    chosen = data.train.take(choose_shots(data.train.labels, data.classes, shots, 0))
    images = normalise(chosen.images, "float32")
    grads, rng = params.zeros_like(), np.random.default_rng(0)
    optimiser = make_optimizer("adam", params)
    total, step = passes * len(images) // batch, 0
    for _ in range(passes):
        order = rng.permutation(len(images))
        for start in range(0, len(images), batch):
            places = order[start : start + batch]
            grads.flat[:] = 0
            loss_and_grads(params, config, images[places], chosen.labels[places], grads)
            clip_norm(grads, 1.0)
            step += 1
            optimiser.step(grads, learning_rate(step, total, peak, total // 10), step)
    right = 0
    for start in range(0, len(data.test), 250):
        logits, _ = forward(params, config, normalise(data.test.images[start : start + 250], "float32"))
        right += (logits.argmax(axis=1) == data.test.labels[start : start + 250]).sum()
    return float(right / len(data.test))


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    main(sys.argv[1])
