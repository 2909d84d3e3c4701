"""The experiment of this lesson: python -m lessons.23_masked_patches.figures.experiment [SEED ...]

For each seed, a masked autoencoder is trained on the 10,000 built-in pictures without their labels, and its
encoder is then fine-tuned with a few labels. Beside it, a fresh model gets the same labels and, so that both
have cost the same number of multiply-adds, more passes over them. Writes every result to experiment.json at
once, and leaves out what is there already. It takes about twenty minutes on one core.
"""

import importlib
import json
import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

import tinyvit
from tinyvit.data import Dataset, normalise
from tinyvit.data.shapes import make_shapes
from tinyvit.insight.few_shot import choose_shots
from tinyvit.model import Params, initialise
from tinyvit.ops import patchify, unpatchify

mae = importlib.import_module("lessons.23_masked_patches.mae")
FOUND = Path(__file__).with_name("experiment.json")
EPOCHS = 10  # without labels; they cost as much as 31,300 whole pictures
# Passes over the labelled pictures, by how many there are: after pre-training, and from scratch.
AFTER, FRESH = {100: 100, 300: 33}, {100: 413, 300: 133}
BATCH, RATE = 25, 2e-3
SHOWN = 6  # pictures in the figure


def main(seeds: list[int]) -> None:
    """Everything for these seeds that is not there yet."""
    data = make_shapes()
    for seed in seeds:
        for labels, epochs in FRESH.items():
            name = f"fresh, {labels} labels, seed {seed}"
            once(name, partial(tuned, initialise(mae.ENCODER, seed), data, labels, epochs, seed))
        pretrained(data, seed)


def pretrained(data: Dataset, seed: int) -> None:
    """Pre-train once for all that is to be found about it."""
    names = [f"pre-trained, {labels} labels, seed {seed}" for labels in AFTER]
    if all(name in read() for name in names):
        return
    report = lambda epoch, loss: print(f"seed {seed}: epoch {epoch:2}  loss {loss:.4f}", flush=True)
    painter, losses = mae.pretrain(data.train.images, EPOCHS, seed, report)
    once(f"losses, seed {seed}", lambda: np.mean(np.reshape(losses, (EPOCHS, -1)), axis=1).round(4).tolist())
    if seed == 0:
        once("paintings", lambda: paintings(painter, data.test.images[:SHOWN]))
    for name, (labels, epochs) in zip(names, AFTER.items(), strict=True):
        once(name, partial(tuned, painter.encoder, data, labels, epochs, seed))


def tuned(start: Params, data: Dataset, labels: int, epochs: int, seed: int) -> dict[str, float]:
    """Train from these parameters on so many labelled pictures: the share of test pictures right."""
    model = tinyvit.Model(mae.ENCODER, start, threads=1).with_new_head(len(data.classes))
    few = data.train.take(choose_shots(data.train.labels, data.classes, labels // 10, seed))
    losses: list[float] = []
    settings = {"batch_size": BATCH, "lr": RATE, "flip": True, "crop_padding": 2, "seed": seed}
    model.fit(few.images, few.labels, epochs=epochs, **settings, report=lambda _, loss: losses.append(loss))
    right = float((model.logits(data.test.images).argmax(axis=1) == data.test.labels).mean())
    return {"epochs": epochs, "right": right, "loss": round(losses[-1], 4)}


def paintings(painter: Any, images: np.ndarray) -> dict[str, Any]:
    """The places in sight of these pictures, and the pictures as painted around them, as bytes."""
    pixels = normalise(images, np.float32)
    seen = mae.draw_seen(np.random.default_rng(1), len(images), mae.ENCODER.patches, mae.IN_SIGHT)
    painted, _ = mae.paint(mae.Own.find(), painter, pixels, seen)
    patches = patchify(pixels, mae.PATCH)[0].reshape(*painted.shape[:2], -1, 3)
    mean, variance = patches.mean(axis=2, keepdims=True), patches.var(axis=2, keepdims=True)
    painted = painted.reshape(patches.shape) * np.sqrt(variance + mae.EPS) + mean  # colours of the truth
    painted = painted.reshape(*painted.shape[:2], -1)
    bytes_ = (127.5 * unpatchify(painted, pixels.shape, mae.PATCH) + 127.5).clip(0, 255).round()
    return {"seen": seen.tolist(), "painted": bytes_.astype(int).tolist()}


def once(name: str, find: Callable[[], Any]) -> None:
    """Add to the file what is found, unless something of that name is there."""
    if name in read():
        return
    value = find()
    print(name, value if len(str(value)) < 200 else "", flush=True)
    found = read() | {name: value}
    lines = ",\n".join(f"{json.dumps(each)}: {json.dumps(of_it)}" for each, of_it in found.items())
    FOUND.write_text("{\n" + lines + "\n}\n", encoding="utf-8")


def read() -> dict[str, Any]:
    """The results so far."""
    return json.loads(FOUND.read_text("utf-8")) if FOUND.exists() else {}


if __name__ == "__main__":
    main([int(seed) for seed in sys.argv[1:]] or [0, 1])
