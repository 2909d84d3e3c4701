"""The same steps in tinyvit and in PyTorch: from the same first values, on the same batches. Needs torch."""

import math
from dataclasses import replace
from functools import partial

import numpy as np
import torch

from tests.golden.torch_recipe import TorchTraining
from tinyvit.data import epoch_order, make_batch, plan_batch
from tinyvit.engine import ReferenceEngine, Training
from tinyvit.objectives import loss_and_grads
from tinyvit.optim import Average, learning_rate, make_optimizer
from tinyvit.training.starting_point import starting_model


def both(settings, data, steps, dtype="float64", rounded=False):
    """Train both for a number of steps: their losses, (steps, 2), then tinyvit's engine, PyTorch's training.

    A quarter of the steps is warm-up. There is no dropout and no stochastic depth, which each draws its own
    way. dtype is that of the parameters, and rounded as in TorchTraining.
    """
    s = replace(settings, dropout=0.0, drop_path=0.0)
    start = starting_model(s, len(data.classes), None, data.train.images)
    config, params, warmup = start.config, start.params.astype(dtype), steps // 4
    pixels = data.train.images, data.train.labels
    theirs = TorchTraining(s, config, params, steps, warmup, rounded)
    training = Training(
        *pixels,
        make_optimizer(s.optimizer, params, s.weight_decay),
        s.clip or math.inf,
        average=Average(params, s.ema) if s.ema else None,
    )
    ours = ReferenceEngine(config, params, partial(loss_and_grads, smoothing=s.smoothing), training)
    order, losses = np.resize(epoch_order(s.seed, 0, len(data.train)), steps * s.batch_size), []
    for step, indices in enumerate(np.split(order, steps), start=1):
        plan = plan_batch(s.seed, step, indices, **s.augmentation())
        images, targets = make_batch(*pixels, plan, np.dtype(dtype), config.image_size, config.classes)
        loss, _ = ours.step(plan, learning_rate(step, steps, s.lr, warmup, s.decay))
        losses.append((float(loss), theirs.step(torch.from_numpy(images), torch.from_numpy(targets))))
    return np.array(losses), ours, theirs


def largest_difference(settings, data, steps, dtype, rounded):
    """The largest difference between the losses of both, relative to them."""
    ours, theirs = both(settings, data, steps, dtype, rounded)[0].T
    return np.abs(ours / theirs - 1).max()
