"""What do the shapes need? Three models, one data set: python -m lessons.00_pixels.figures.baselines [SEED]

A linear classifier, a perceptron with about as many parameters as the ViT and ten times its passes, and the
ViT, trained by `python -m tinyvit.train` without further flags. The perceptron has the best settings found in
a search over depth, activation, LayerNorm, learning rate, batch size and augmentation. All three together
take a few minutes on two CPU cores.
"""

import json
import math
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np

from tinyvit import ops
from tinyvit.data import crop_and_flip, draw_augmentation
from tinyvit.data.shapes import make_shapes
from tinyvit.model import Params, specs_from_shapes
from tinyvit.optim import AdamW, learning_rate
from tinyvit.training.recipes import recipe

HIDDEN = 44  # units in each of two layers: 137,818 parameters, where the ViT has 142,026
BATCH, LR, DECAY, SHIFT = 50, 2e-3, 0.05, 1  # SHIFT: crops move by up to this many pixels


def main(arguments):
    seed = int(arguments[0]) if arguments else 0
    data = make_shapes(seed=seed)
    epochs = recipe("shapes", on_gpu=False)["epochs"]
    print(f"{len(data.train):,} training images, {len(data.test):,} test images, seed {seed}")
    print(f"{'':12}{'parameters':>12}{'passes':>13}{'test accuracy':>16}")
    report("linear", *linear(data), "closed form")
    report("perceptron", *perceptron(data, 10 * epochs, seed), 10 * epochs)
    report("ViT", *vit(seed), epochs)


def report(name, parameters, accuracy, passes):
    print(f"{name:12}{parameters:12,}{passes:>13}{100 * accuracy:14.1f} %", flush=True)


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
    """Two hidden layers with LayerNorm and GELU, trained by AdamW with warm-up and cosine decay."""
    rng = np.random.default_rng(seed)
    sizes = [(pixels(data.test.images).shape[1], HIDDEN), (HIDDEN, HIDDEN), (HIDDEN, 10)]
    shapes = {}
    for i, (inputs, outputs) in enumerate(sizes):
        shapes |= {f"{i}.weight": (inputs, outputs), f"{i}.bias": (outputs,)}
        if i < 2:
            shapes |= {f"{i}.norm.gain": (outputs,), f"{i}.norm.bias": (outputs,)}
    params = Params.zeros(specs_from_shapes(shapes))
    for i, (inputs, outputs) in enumerate(sizes):
        params[f"{i}.weight"] = rng.normal(0, math.sqrt(2 / inputs), (inputs, outputs))
        if i < 2:
            params[f"{i}.norm.gain"] = np.ones(outputs)
    grads, optimizer = params.zeros_like(), AdamW(params, weight_decay=DECAY)
    steps = len(data.train) // BATCH
    for epoch in range(epochs):
        order = rng.permutation(len(data.train))
        for k in range(steps):
            chosen, step = order[k * BATCH : (k + 1) * BATCH], epoch * steps + k + 1
            images = crop_and_flip(data.train.images, chosen, *draw_augmentation(rng, BATCH, SHIFT))
            logits, caches = forward(params, pixels(images))
            _, cache = ops.cross_entropy(logits, data.train.labels[chosen])
            grads.flat.fill(0)
            backward(ops.cross_entropy_backward(cache), caches, grads)
            optimizer.step(grads, learning_rate(step, epochs * steps, LR, epochs * steps // 50), step)
    logits, _ = forward(params, pixels(data.test.images))
    return params.count, accuracy(logits, data.test.labels)


def forward(params, x):
    """Logits (B, 10) of rows of pixels, and the caches."""
    caches = []
    for i in range(2):
        x, linear_cache = ops.linear(x, params[f"{i}.weight"], params[f"{i}.bias"])
        x, norm_cache = ops.layer_norm(x, *params.group(f"{i}.norm"))
        x, gelu_cache = ops.gelu(x)
        caches.append((linear_cache, norm_cache, gelu_cache))
    logits, cache = ops.linear(x, params["2.weight"], params["2.bias"])
    return logits, [*caches, cache]


def backward(dlogits, caches, grads):
    """Add the gradients of all parameters to grads: the forward pass, upwards."""
    dx, *dweights = ops.linear_backward(dlogits, caches[2])
    grads.add("2", *dweights)
    for i in (1, 0):
        linear_cache, norm_cache, gelu_cache = caches[i]
        dx = ops.gelu_backward(dx, gelu_cache)
        dx, *dnorm = ops.layer_norm_backward(dx, norm_cache)
        grads.add(f"{i}.norm", *dnorm)
        dx, dweight, dbias = ops.linear_backward(dx, linear_cache)
        grads.add(f"{i}.weight", dweight)
        grads.add(f"{i}.bias", dbias)


def vit(seed):
    """The ViT that `python -m tinyvit.train` trains: parameters, and accuracy after the last epoch."""
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
