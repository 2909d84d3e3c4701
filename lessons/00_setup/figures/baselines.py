"""What do the shapes need? Three models on the same data: python -m lessons.00_setup.figures.baselines [SEED]

A linear classifier, a perceptron with one hidden layer and about as many parameters as the ViT, given ten
times the passes, and the ViT, trained by `python -m tinyvit.train` without further flags. The perceptron has
the best settings found in a search over depth, activation, learning rate, weight decay, batch size and
augmentation. All three together take a few minutes on two CPU cores.
"""

import json
import math
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np

from tinyvit.data import crop_and_flip, draw_augmentation
from tinyvit.data.shapes import make_shapes
from tinyvit.training.recipes import recipe

HIDDEN = 45  # units: (3072 + 1) * 45 + (45 + 1) * 10 = 138,745 parameters, where the ViT has 142,026
BATCH, LR, DECAY, SHIFT = 100, 1e-3, 0.01, 2  # SHIFT: crops move by up to so many pixels


def main(arguments):
    seed = int(arguments[0]) if arguments else 0
    data = make_shapes(seed=seed)
    epochs = recipe("shapes", on_gpu=False)["epochs"]
    print(f"{len(data.train):,} training images, {len(data.test):,} test images, seed {seed}")
    print(f"{'':12}{'parameters':>12}{'passes':>10}{'test accuracy':>16}")
    report("linear", *linear(data), "closed form")
    report("perceptron", *perceptron(data, 10 * epochs, seed), 10 * epochs)
    report("ViT", *vit(seed), epochs)


def report(name, parameters, accuracy, passes):
    print(f"{name:12}{parameters:12,}{passes:>12}{100 * accuracy:14.1f} %", flush=True)


def linear(data):
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
    """One hidden layer of ReLUs, trained by AdamW with warm-up and cosine decay, judged at its end."""
    rng = np.random.default_rng(seed)
    w1, w2 = he_normal(rng, pixels(data.test.images).shape[1], HIDDEN), he_normal(rng, HIDDEN, 10)
    params = [w1, np.zeros(HIDDEN, np.float32), w2, np.zeros(10, np.float32)]
    means, squares = ([np.zeros_like(p) for p in params] for _ in range(2))
    total = epochs * (len(data.train) // BATCH)
    for step in range(1, total + 1):
        at = (step - 1) * BATCH % len(data.train)
        if at == 0:
            order = rng.permutation(len(data.train))
        chosen = order[at : at + BATCH]
        images = crop_and_flip(data.train.images, chosen, *draw_augmentation(rng, BATCH, SHIFT))
        grads = gradients(pixels(images), data.train.labels[chosen], *params)
        rate = LR * min(1, 50 * step / total) * (1 + math.cos(math.pi * step / total)) / 2
        for p, g, m, v in zip(params, grads, means, squares, strict=True):
            m += 0.1 * (g - m)
            v += 0.001 * (g * g - v)
            update = (m / (1 - 0.9**step)) / (np.sqrt(v / (1 - 0.999**step)) + 1e-8)
            p -= np.float32(rate) * (update + (DECAY * p if p.ndim == 2 else 0))
    _, logits = forward(pixels(data.test.images), *params)
    return sum(p.size for p in params), accuracy(logits, data.test.labels)


def forward(x, w1, b1, w2, b2):
    hidden = np.maximum(x @ w1 + b1, 0)
    return hidden, hidden @ w2 + b2


def gradients(x, labels, w1, b1, w2, b2):
    """Of the mean cross-entropy, by w1, b1, w2 and b2."""
    hidden, logits = forward(x, w1, b1, w2, b2)
    p = np.exp(logits - logits.max(axis=1, keepdims=True))
    p /= p.sum(axis=1, keepdims=True)
    p[np.arange(len(x)), labels] -= 1
    dlogits = p / np.float32(len(x))
    dhidden = (dlogits @ w2.T) * (hidden > 0)
    return x.T @ dhidden, dhidden.sum(axis=0), hidden.T @ dlogits, dlogits.sum(axis=0)


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


def he_normal(rng, inputs, outputs):
    return rng.normal(0, math.sqrt(2 / inputs), (inputs, outputs)).astype(np.float32)


def accuracy(logits, labels):
    return (logits.argmax(axis=1) == labels).mean()


if __name__ == "__main__":
    main(sys.argv[1:])
