"""Draw this lesson's figure: python -m lessons.11_overfit_one_batch.figures.draw (trains for some seconds)"""

from pathlib import Path

import numpy as np

from lessons.drawing import BLUE, GREEN, INK, ORANGE, QUIET, RED, Sheet, plot_losses
from tinyvit.data import normalise
from tinyvit.data.shapes import make_shapes
from tinyvit.model import ViTConfig, initialise
from tinyvit.objectives import loss_and_grads
from tinyvit.optim import AdamW

CONFIG = ViTConfig(32, 8, width=32, mlp_width=64, heads=4, layers=2, classes=10)
STEPS = 120


def main():
    sheet = Sheet(760, 516)
    images = normalise(make_shapes(train=8, test=1).train.images, "float64")
    panels = (
        ("Sound", "down to zero", GREEN, train(images)),
        ("Blind", "grey images: down to the entropy of the labels", ORANGE, train(0 * images)),
        ("Gradients not cleared", "falls, then climbs", BLUE, train(images, lr=3e-3, clear=False)),
        ("Learning rate 1", "jumps far above where it started", RED, train(images, lr=1.0)),
    )
    for number, (title, meaning, colour, losses) in enumerate(panels):
        left, top = 60 + 370 * (number % 2), 70 + 256 * (number // 2)
        sheet.text(left, top - 44, title, 15, INK, "lm")
        sheet.text(left, top - 24, meaning, 12, QUIET, "lm")
        plot_losses(sheet, left, top, losses[:, None], (colour,), "step")
    sheet.save(Path(__file__).parent / "one_batch.png")


def train(images, lr=1e-2, clear=True):
    """The losses of the model on eight images with random labels, perhaps with a mistake."""
    labels = np.random.default_rng(0).integers(0, 10, 8)
    params = initialise(CONFIG, 0, "float64")
    grads, optimizer, losses = params.zeros_like(), AdamW(params), []
    for step in range(1, STEPS + 1):
        if clear:
            grads.flat.fill(0)
        losses.append(float(loss_and_grads(CONFIG, params, images, labels, grads)))
        optimizer.step(grads, lr, step)
    return np.array(losses)


if __name__ == "__main__":
    main()
