"""The loop of lesson 3, for every model of the course: mini-batches, and steps against the gradient."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cache

import numpy as np

from lessons.mine.answers import yours
from tinyvit.data import Dataset
from tinyvit.data.shapes import make_shapes

BATCH, TESTED, MOMENTUM, WARMUP = 50, 1000, 0.9, 0.1
LOSS = ("normalise", "cross_entropy", "cross_entropy_backward")
UPDATE = ("adamw_step", "clip_norm", "learning_rate")

Parameters = dict[str, np.ndarray]
Forward = Callable[[Parameters, np.ndarray], tuple[np.ndarray, object]]
Backward = Callable[[np.ndarray, object], Parameters]


def learn(
    forward: Forward,
    backward: Backward,
    params: Parameters,
    rate: float,
    pictures: int = 2000,
    epochs: int = 10,
    update: str = "sgd",
) -> Parameters:
    """Train on that many of the built-in pictures, with your functions where you have written them.

    forward(params, images) returns scores (B, 10) and a cache, backward(dscores, cache) a dict with the
    gradient of every parameter under its name. images are normalised float32 (B, 32, 32, 3). update is "sgd",
    with momentum (lesson 9), or "adamw": your adamw_step, clip_norm and learning_rate. Prints the mean loss
    of a few epochs, and at the end the accuracy on known and on new pictures. Returns what was trained.
    """
    own = dict(zip(LOSS + UPDATE, yours(*LOSS, *UPDATE), strict=True))
    data = pictures_of(pictures)

    def report(epoch: int, loss: float) -> None:
        if epoch in (1, epochs // 2, epochs):
            print(f"epoch {epoch:2}  loss about {loss:.2f}")

    params = fit(own, forward, backward, params, data, epochs, rate, report, adamw=update == "adamw")
    known = accuracy(own, forward, params, data.train.images[:TESTED], data.train.labels[:TESTED])
    new = accuracy(own, forward, params, data.test.images, data.test.labels)
    print(f"right: about {100 * known:.0f} % of known pictures, about {100 * new:.0f} % of new ones")
    return params


def fit(
    own: Mapping[str, Callable],
    forward: Forward,
    backward: Backward,
    params: Parameters,
    data: Dataset,
    epochs: int,
    rate: float,
    report: Callable[[int, float], None] = lambda epoch, loss: None,
    adamw: bool = False,
) -> Parameters:
    """The trained parameters; report(epoch, mean loss) is called after each epoch.

    own has the functions of LOSS, and those of UPDATE for adamw. Without it the step is SGD with momentum,
    whose rate climbs for a tenth of the steps and then falls along a line.
    """
    rng = np.random.default_rng(0)
    params = {name: array.copy() for name, array in params.items()}
    first, second = ({name: np.zeros_like(array) for name, array in params.items()} for _ in range(2))
    steps = len(data.train) // BATCH
    total = epochs * steps
    for epoch in range(epochs):
        order, losses = rng.permutation(len(data.train)), []
        for k in range(steps):
            chosen = order[k * BATCH : (k + 1) * BATCH]
            images = own["normalise"](data.train.images[chosen], np.float32)
            scores, cache = forward(params, images)
            loss, loss_cache = own["cross_entropy"](scores, data.train.labels[chosen])
            grads = backward(own["cross_entropy_backward"](loss_cache), cache)
            losses.append(float(loss))
            step = epoch * steps + k + 1
            if adamw:
                _step_of_adamw(own, params, grads, first, second, step, total, rate)
                continue
            lr = rate * min(step / (WARMUP * total), (total - step + 1) / ((1 - WARMUP) * total))
            for name, gradient in grads.items():
                first[name] = MOMENTUM * first[name] + gradient
                params[name] -= (lr * first[name]).astype(params[name].dtype)
        report(epoch + 1, float(np.mean(losses)))
    return params


def accuracy(
    own: Mapping[str, Callable], forward: Forward, params: Parameters, images: np.ndarray, labels: np.ndarray
) -> float:
    """The share of images, bytes (n, 32, 32, 3), whose highest score is that of their label."""
    right = 0
    for start in range(0, len(images), 100):
        scores, _ = forward(params, own["normalise"](images[start : start + 100], np.float32))
        right += int((np.asarray(scores).argmax(axis=1) == labels[start : start + 100]).sum())
    return right / len(images)


@cache
def pictures_of(count: int) -> Dataset:
    """That many pictures to learn from, of all ten shapes, and 1,000 new ones."""
    return make_shapes(train=count, test=TESTED, seed=0)


def _step_of_adamw(own, params, grads, first, second, step, total, rate) -> None:
    """One step of lesson 9: clipping over all gradients together, the schedule, AdamW; matrices decay."""
    names = list(params)
    flat, _ = own["clip_norm"](np.concatenate([grads[name].ravel() for name in names]), 1.0)
    lr = own["learning_rate"](step, total, rate, total // 10)
    start = 0
    for name in names:
        w = params[name]
        g = flat[start : start + w.size].reshape(w.shape)
        decay = 0.05 if w.ndim == 2 and name != "position" else 0.0
        params[name], first[name], second[name] = own["adamw_step"](
            w, g, first[name], second[name], lr, step, (0.9, 0.999), 1e-8, decay
        )
        start += w.size
