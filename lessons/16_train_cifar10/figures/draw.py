"""Draw this lesson's figure: python -m lessons.16_train_cifar10.figures.draw (trains for about a minute)"""

from pathlib import Path

import numpy as np

from lessons.drawing import BLUE, INK, ORANGE, QUIET, Sheet, plot_losses
from tinyvit.data import crop_and_flip, draw_augmentation, normalise
from tinyvit.data.shapes import make_shapes
from tinyvit.model import infer, initialise, preset
from tinyvit.objectives import loss_and_grads
from tinyvit.ops import cross_entropy
from tinyvit.optim import AdamW, clip_norm, learning_rate

CONFIG = preset("nano/8", 32, 10)
BATCH = 50


def main():
    sheet = Sheet(760, 556)
    data = make_shapes(train=3000, test=500)
    panels = (
        ("Learning", "3,000 images, learning rate 0.002", train(data, 3000, 10, 2e-3)),
        ("Learning rate too low", "the same with 0.00002", train(data, 3000, 10, 2e-5)),
        ("Learning rate too high", "the same with 0.03", train(data, 3000, 10, 3e-2)),
        ("Overfitting", "300 images, 60 epochs, no augmentation", train(data, 300, 60, 2e-3, augment=False)),
    )
    for number, (title, meaning, losses) in enumerate(panels):
        print(title, losses[-1].round(2), "lowest", losses.min(axis=0).round(2), losses[:, 1].argmin() + 1)
        left, top = 60 + 370 * (number % 2), 70 + 256 * (number // 2)
        sheet.text(left, top - 44, title, 15, INK, "lm")
        sheet.text(left, top - 24, meaning, 12, QUIET, "lm")
        plot_losses(sheet, left, top, losses, (BLUE, ORANGE), "epoch")
    sheet.text(60, 536, "loss on the training images", 13, BLUE, "lm")
    sheet.text(280, 536, "loss on 500 images held out", 13, ORANGE, "lm")
    sheet.text(500, 536, "grey: blind guessing, log 10", 13, QUIET, "lm")
    sheet.save(Path(__file__).parent / "four_runs.png")


def train(data, count, epochs, lr, augment=True):
    """Mean training loss and held-out loss of every epoch, (epochs, 2), of a small model on the shapes."""
    params = initialise(CONFIG)
    grads, optimizer, rng = params.zeros_like(), AdamW(params, weight_decay=0.05), np.random.default_rng(0)
    held_out = normalise(data.test.images, "float32")
    steps, step, losses = count // BATCH, 0, []
    for _ in range(epochs):
        total = 0.0
        for chosen in rng.permutation(count).reshape(steps, BATCH):
            step += 1
            down, right, flip = draw_augmentation(rng, BATCH, 4 if augment else 0)
            batch = crop_and_flip(data.train.images, chosen, down, right, flip & augment)
            grads.flat.fill(0)
            images = normalise(batch, "float32")
            total += float(loss_and_grads(CONFIG, params, images, data.train.labels[chosen], grads))
            clip_norm(grads, 1.0)
            optimizer.step(grads, learning_rate(step, epochs * steps, lr, steps), step)
        logits = infer(CONFIG, params, held_out)
        losses.append((total / steps, float(cross_entropy(logits, data.test.labels)[0])))
    return np.array(losses)


if __name__ == "__main__":
    main()
