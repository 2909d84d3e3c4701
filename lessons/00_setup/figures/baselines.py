"""What do the shapes need? Three models on the same data: python -m lessons.00_setup.figures.baselines [SEED]

A linear classifier; a perceptron with about as many parameters as the ViT, given ten times the passes; and
the ViT, trained as `python -m tinyvit.train` does. The perceptron is the best one found in a search over one
to three hidden layers, their widths, normalisation, activation, optimiser, learning rate, weight decay, batch
size and augmentation. All three together take a few minutes on two CPU cores.
"""

import json
import math
import subprocess
import sys
import tempfile
from itertools import pairwise
from pathlib import Path

import numpy as np

from tinyvit.data import crop_and_flip, draw_augmentation
from tinyvit.data.shapes import make_shapes
from tinyvit.ops import (
    cross_entropy,
    cross_entropy_backward,
    gelu,
    gelu_backward,
    layer_norm,
    layer_norm_backward,
    linear,
    linear_backward,
)
from tinyvit.training.recipes import recipe

WIDTHS = (3072, 44, 44, 10)  # of the perceptron: pixels, two hidden layers, classes
BATCH, LR, DECAY, SHIFT = 50, 2e-3, 0.01, 1  # SHIFT: crops move by up to so many pixels


def main(arguments):
    seed = int(arguments[0]) if arguments else 0
    data = make_shapes(seed=seed)
    epochs = recipe("shapes", on_gpu=False)["epochs"]
    print(f"{len(data.train):,} training images, {len(data.test):,} test images, seed {seed}")
    print(f"{'':12}{'parameters':>12}{'passes':>10}{'test accuracy':>16}")
    report("linear", *least_squares(data), "closed form")
    report("perceptron", *perceptron(data, 10 * epochs, seed), 10 * epochs)
    report("ViT", *vit(seed), epochs)


def report(name, parameters, accuracy, passes):
    print(f"{name:12}{parameters:12,}{passes:>12}{100 * accuracy:14.1f} %", flush=True)


def least_squares(data):
    """Least squares on the pixels with one of five penalties, the best of them on the test images."""
    x, x_test = (pixels(part.images).astype(np.float64) for part in (data.train, data.test))  # (n, 3072)
    mean = x.mean(axis=0)
    x, x_test = x - mean, x_test - mean
    targets = np.eye(10)[data.train.labels]
    values, vectors = np.linalg.eigh(x.T @ x)
    projected, projected_test = vectors.T @ (x.T @ (targets - 0.1)), x_test @ vectors
    found = [
        accuracy(projected_test @ (projected / (values + penalty)[:, None]), data.test.labels)
        for penalty in (1e0, 1e1, 1e2, 1e3, 1e4)
    ]
    return x.shape[1] * 10 + 10, max(found)


def perceptron(data, epochs, seed):
    """Trained by AdamW with warm-up and cosine decay on flipped and shifted images, judged at its end."""
    rng = np.random.default_rng(seed)
    params = first_values(rng)
    means, squares = ([np.zeros_like(p) for p in params] for _ in range(2))
    total = epochs * (len(data.train) // BATCH)
    for step in range(1, total + 1):
        at = (step - 1) * BATCH % len(data.train)
        if at == 0:
            order = rng.permutation(len(data.train))
        chosen = order[at : at + BATCH]
        images = crop_and_flip(data.train.images, chosen, *draw_augmentation(rng, BATCH, SHIFT))
        logits, caches = forward(pixels(images), params)
        _, cache = cross_entropy(logits, data.train.labels[chosen])
        grads = backward(cross_entropy_backward(cache), caches)
        rate = LR * min(1, 50 * step / total) * (1 + math.cos(math.pi * step / total)) / 2
        for p, g, m, v in zip(params, grads, means, squares, strict=True):
            m += 0.1 * (g - m)
            v += 0.001 * (g * g - v)
            update = (m / (1 - 0.9**step)) / (np.sqrt(v / (1 - 0.999**step)) + 1e-8)
            p -= rate * (update + (DECAY * p if p.ndim == 2 else 0))
    logits, _ = forward(pixels(data.test.images), params)
    return sum(p.size for p in params), accuracy(logits, data.test.labels)


def first_values(rng):
    """Weight and bias of each layer, and after a hidden layer's those of its normalisation."""
    params = []
    for inputs, outputs in pairwise(WIDTHS):
        weight = rng.normal(0, math.sqrt(1 / inputs), (inputs, outputs))
        params += [weight, np.zeros(outputs), np.ones(outputs), np.zeros(outputs)]
    return [p.astype(np.float32) for p in params[:-2]]


def forward(x, params):
    """Each hidden layer is linear, LayerNorm, GELU; the last is linear alone."""
    caches = []
    for at in range(0, len(params) - 2, 4):
        x, linear_cache = linear(x, *params[at : at + 2])
        x, norm_cache = layer_norm(x, *params[at + 2 : at + 4])
        x, gelu_cache = gelu(x)
        caches.append((linear_cache, norm_cache, gelu_cache))
    logits, head_cache = linear(x, *params[-2:])
    return logits, (caches, head_cache)


def backward(dlogits, caches):
    """The gradients of all parameters, in their order."""
    hidden, head_cache = caches
    dx, *grads = linear_backward(dlogits, head_cache)
    for linear_cache, norm_cache, gelu_cache in reversed(hidden):
        dx, *norm_grads = layer_norm_backward(gelu_backward(dx, gelu_cache), norm_cache)
        dx, *linear_grads = linear_backward(dx, linear_cache)
        grads = linear_grads + norm_grads + grads
    return grads


def vit(seed):
    """What `python -m tinyvit.train` trains, as it is: parameters, and accuracy after the last epoch."""
    with tempfile.TemporaryDirectory() as folder:
        run = Path(folder) / "run"
        command = [
            sys.executable,
            "-m",
            "tinyvit.train",
            "--device",
            "cpu",
            "--seed",
            str(seed),
            "--out",
            run,
        ]
        subprocess.run(command, check=True, capture_output=True)
        parameters = json.loads((run / "config.json").read_text())["parameters"]
        last = (run / "metrics.jsonl").read_text().splitlines()[-1]
    return parameters, json.loads(last)["test_accuracy"]


def pixels(images):
    """Bytes (n, H, W, 3) as rows of numbers from -1 to 1, (n, 3 H W)."""
    return images.reshape(len(images), -1).astype(np.float32) / 127.5 - 1


def accuracy(logits, labels):
    return (logits.argmax(axis=1) == labels).mean()


if __name__ == "__main__":
    main(sys.argv[1:])
