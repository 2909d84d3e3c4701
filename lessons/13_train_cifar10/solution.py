"""A training loop with all its details, and what the curves of a run say."""

import math
from importlib import import_module
from itertools import pairwise

import numpy as np

from tinyvit.data import normalise
from tinyvit.ops import Noise, cross_entropy

parts = import_module("lessons.13_train_cifar10.parts")


def evaluate(model, images, labels, batch_size):
    """Mean loss and accuracy over all images, as they are."""
    loss_sum, right = 0.0, 0
    for start in range(0, len(labels), batch_size):
        part = slice(start, start + batch_size)
        logits = model.logits(normalise(images[part], model.params.flat.dtype))
        loss, _ = cross_entropy(logits, labels[part])
        loss_sum += float(loss) * len(logits)  # a smaller last batch counts less
        right += int((logits.argmax(axis=1) == labels[part]).sum())
    return loss_sum / len(labels), right / len(labels)


def fit(model, data, epochs, batch_size, peak, warmup_epochs, weight_decay, seed, report):
    """Train the model; the parameters of the best epoch, and a record of each."""
    images, labels, count = data.train.images, data.train.labels, len(data.train)
    params, rng = model.params, np.random.default_rng(seed)
    grads, m, v = params.zeros_like(), np.zeros_like(params.flat), np.zeros_like(params.flat)
    decays = (slice(params.decayed), weight_decay), (slice(params.decayed, None), 0.0)
    steps = math.ceil(count / batch_size)
    step, best, records = 0, None, []
    for epoch in range(1, epochs + 1):
        order, loss_sum = rng.permutation(count), 0.0
        for start in range(0, count, batch_size):
            step, chosen = step + 1, order[start : start + batch_size]
            shown = normalise(parts.augment(images[chosen], rng), params.flat.dtype)
            grads.flat[:] = 0
            loss = model.loss_and_grads(shown, labels[chosen], grads, Noise(seed, step))
            loss_sum += loss * len(chosen)
            g, _ = parts.clip_norm(grads.flat, 1.0)
            rate = parts.learning_rate(step, epochs * steps, peak, warmup_epochs * steps)
            for part, decay in decays:
                params.flat[part], m[part], v[part] = parts.adamw_step(
                    params.flat[part], g[part], m[part], v[part], rate, step, weight_decay=decay
                )
        val_loss, val_accuracy = evaluate(model, data.validation.images, data.validation.labels, batch_size)
        if best is None or val_accuracy > max(record["val_accuracy"] for record in records):
            best = params.astype(params.flat.dtype)  # a copy
        train_loss = loss_sum / count
        records.append(
            {"epoch": epoch, "train_loss": train_loss, "val_loss": val_loss, "val_accuracy": val_accuracy}
        )
        report(records[-1])
    return best, records


def verdict(records, classes):
    """The verdict on the losses of a run."""
    guess, last = math.log(classes), records[-1]
    if not all(math.isfinite(record["train_loss"]) for record in records) or last["train_loss"] > 1.2 * guess:
        return "diverged"
    key = "val_loss" if "val_loss" in last else "train_loss"
    losses = [record[key] for record in records]
    if last["train_loss"] > 0.95 * guess:
        jumps = any(after > 1.01 * before for before, after in pairwise(losses))
        return "rate too high" if jumps else "rate too low"
    if key == "val_loss":
        lowest = min(records, key=lambda record: record["val_loss"])
        if last["val_loss"] > 1.1 * lowest["val_loss"] and last["train_loss"] < lowest["train_loss"]:
            return "overfitting"
    return "learning"


def faults_found():
    """The faults of the four runs.

    A learns by heart what cannot be learned. B learns, but calls all held-out images by one name. C has a
    gradient that is half as long again as that of the others before anything is learned. D is as good on the
    held-out images as on the others, 94%, with 600 images and no augmentation.
    """
    return {
        "A": "labels shuffled",
        "B": "held-out images normalised differently",
        "C": "gradients never cleared",
        "D": "held-out images among the training images",
    }
