"""A minute of training: the hybrid learns to tell five of the built-in shapes apart."""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from lessons.mine.adapters import training_config
from lessons.mine.answers import asked_in
from lessons.mine.hybrid import Hybrid
from lessons.start import load
from tinyvit import data, optim
from tinyvit.data import Dataset, ImageSet, epoch_order, plan_batch
from tinyvit.data.shapes import make_shapes
from tinyvit.engine import ReferenceEngine, Training
from tinyvit.model import ViTConfig, initialise
from tinyvit.training.evaluation import evaluate

CLASSES = 5  # disc, ring, square, triangle, cross
CONFIG = ViTConfig(32, 4, width=32, mlp_width=64, heads=2, layers=3, classes=CLASSES, drop_path=0.02)
BATCH, PEAK, WARMUP, DECAY, CLIP, PADDING, SEED = 30, 4e-3, 100, 0.05, 1.0, 2, 0
ONE_BATCH_STEPS = 60


@dataclass(frozen=True)
class Length:
    """The length of a training: the images to train on and to test on, and the number of epochs."""

    images: int
    tested: int
    epochs: int

    @property
    def steps(self) -> int:
        """The number of updates."""
        return self.epochs * (self.images // BATCH)


FULL, HALF, QUICK = Length(3000, 1000, 12), Length(3000, 1000, 5), Length(600, 250, 2)


@dataclass
class Curve:
    """The results of a training: the loss of every step, and the accuracy on the test images after it."""

    losses: list[float]
    accuracy: float


def shapes(length: Length) -> Dataset:
    """The images of the first five classes."""
    whole = make_shapes(train=length.images * 10 // CLASSES, test=length.tested * 10 // CLASSES)
    train, test = (_of_the_first_classes(images) for images in (whole.train, whole.test))
    return Dataset("shapes", whole.classes[:CLASSES], train, test)


def learn_one_batch(hybrid: Hybrid, dataset: Dataset, config: ViTConfig = CONFIG) -> list[float]:
    """The losses on one batch that is trained on alone, with the learner's loop if it is in the hybrid."""
    solution = load(asked_in("train_on_batch") / "solution.py")
    loop = hybrid.own.get("train_on_batch", solution.train_on_batch)
    images, labels = dataset.train.images[:BATCH], dataset.train.labels[:BATCH]
    params = initialise(config, SEED)
    with hybrid.in_place(solution), _quietly():
        batch = data.normalise(images, np.dtype("float32"))
        return [float(loss) for loss in loop(config, params, batch, labels, ONE_BATCH_STEPS, 2e-3)]


def train(
    hybrid: Hybrid,
    dataset: Dataset,
    length: Length,
    report: Callable[[int, float], None] = lambda step, loss: None,
    config: ViTConfig = CONFIG,
) -> Curve:
    """Train a model made of a hybrid's parts, the same way every time; report(step, loss) after each step."""
    config = training_config(config, hybrid.own)
    params, losses = initialise(config, SEED), []
    count, total = len(dataset.train), length.steps
    steps = count // BATCH
    with hybrid.in_place(), _quietly():
        optimizer = optim.AdamW(params, weight_decay=DECAY)
        training = Training(dataset.train.images, dataset.train.labels, optimizer, CLIP)
        engine = ReferenceEngine(config, params, training=training)
        for step in range(1, total + 1):
            epoch, k = divmod(step - 1, steps)
            if k == 0:
                order = epoch_order(SEED, epoch, count)
            plan = plan_batch(SEED, step, order[k * BATCH : (k + 1) * BATCH], PADDING, flip=True)
            rate = optim.learning_rate(step, total, PEAK, min(WARMUP, total // 10))
            loss, _ = engine.step(plan, rate)
            losses.append(float(loss))
            report(step, losses[-1])
        accuracy = evaluate(engine, dataset.test).accuracy if math.isfinite(losses[-1]) else math.nan
    return Curve(losses, accuracy)


def _of_the_first_classes(images: ImageSet) -> ImageSet:
    chosen = np.flatnonzero(images.labels < CLASSES)
    return ImageSet(images.images[chosen], images.labels[chosen])


class _quietly(warnings.catch_warnings):  # noqa: N801 - used like a function
    """Without NumPy's warnings: a wrong answer may overflow, and that is told in another way."""

    def __enter__(self):
        super().__enter__()
        warnings.simplefilter("ignore", RuntimeWarning)
