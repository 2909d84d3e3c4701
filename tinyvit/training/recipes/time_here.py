"""The time of a run on this machine's CPU, calculated from a second of its own training steps."""

import math
import time
from statistics import median

import numpy as np

from tinyvit.data import ImageSet, plan_batch
from tinyvit.model import ViTConfig, initialise
from tinyvit.model.cost import multiply_adds
from tinyvit.support.figures import counted
from tinyvit.training.learning import Stages
from tinyvit.training.loop import Trainer
from tinyvit.training.settings import Settings

_EVALUATING = 1 / 3  # of the time that training on an image takes: forward, but no backward
_SHORT = 1e13  # multiply-adds of a run that takes at most a few minutes


def time_here(settings: Settings, config: ViTConfig, train: int, test: int, seconds: float = 1.0) -> str:
    """The time of a run in epochs, such as 'about 25 minutes'; empty if that is at most a few minutes.

    train and test are numbers of images, and `seconds` is how long training is measured for.
    """
    images = images_in_all(settings, config, train, test)
    if 3 * multiply_adds(config) * images < _SHORT:
        return ""
    minutes = images / training_rate(settings, config, seconds) / 60
    if minutes >= 90:
        return f"about {minutes / 60:.1f} hours"
    return f"about {counted(max(1, round(minutes)), 'minute')}"


def images_in_all(settings: Settings, config: ViTConfig, train: int, test: int) -> float:
    """Number of images, with all patches, that take as long to train on as the run and its evaluations."""
    evaluations = math.ceil(settings.epochs / settings.evaluate_every)
    whole_passes = Stages(settings, config).cost_left(0) * settings.epochs
    return whole_passes * train + _EVALUATING * evaluations * test


def training_rate(settings: Settings, config: ViTConfig, seconds: float) -> float:
    """Images per second in training on a CPU with all patches, from steps of a new model on random images."""
    rng, count = np.random.default_rng(0), settings.batch_size
    pixels = rng.integers(0, 256, (count, *config.image_size, 3), dtype=np.uint8)
    data = ImageSet(pixels, rng.integers(0, config.classes, count))
    trainer = Trainer(settings, config, initialise(config), str, data)
    took: list[float] = []
    while sum(took) < seconds:
        start = time.perf_counter()
        plan = plan_batch(settings.seed, len(took) + 1, np.arange(count), **trainer.augmentation)
        trainer.engine.step(plan, 0.0)
        took.append(time.perf_counter() - start)
    return count / median(took[1:] or took)  # the first is a warm-up
