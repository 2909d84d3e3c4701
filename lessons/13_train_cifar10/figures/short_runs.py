"""The short runs of this lesson on the built-in shapes: python -m lessons.13_train_cifar10.figures.short_runs

Writes four_runs.json, from which draw.py draws, and unlabelled.json of the puzzle. It takes some minutes.
"""

import json
from pathlib import Path

import numpy as np

from tinyvit.data import crop_and_flip, draw_augmentation, normalise
from tinyvit.data.shapes import make_shapes
from tinyvit.model import infer, initialise, preset
from tinyvit.objectives import loss_and_grads
from tinyvit.ops import cross_entropy
from tinyvit.optim import AdamW, clip_norm, learning_rate

HERE = Path(__file__).parent
CONFIG = preset("nano/8", 32, 10)
BATCH = 50


def main():
    data = make_shapes(train=3000, test=500)
    four = {
        "learning": train(data, 3000, 10),
        "too low": train(data, 3000, 10, peak=2e-5),
        "too high": train(data, 3000, 10, peak=3e-2),
        "overfitting": train(data, 300, 60, augment=False),
    }
    write(HERE / "four_runs.json", four)
    unlabelled = {
        "A": train(data, 600, 20, fault="labels shuffled"),
        "B": train(data, 600, 20, fault="held-out images not normalised like the training images"),
        "C": train(data, 600, 20, fault="gradients never cleared"),
        "D": train(data, 600, 20, fault="held-out images are training images", augment=False),
    }
    write(HERE.parent / "unlabelled.json", unlabelled)


def write(path, runs):
    lines = ",\n".join(
        f'"{name}": [\n' + ",\n".join(json.dumps(record) for record in records) + "\n]"
        for name, records in runs.items()
    )
    path.write_text("{\n" + lines + "\n}\n", encoding="utf-8")


def train(data, count, epochs, peak=2e-3, augment=True, fault=""):
    """Records of a run as in metrics.jsonl, of a small model on the shapes, with at most one fault."""
    params = initialise(CONFIG)
    grads, optimizer, rng = params.zeros_like(), AdamW(params, weight_decay=0.05), np.random.default_rng(0)
    images, labels = data.train.images[:count], data.train.labels[:count]
    held_out, truth = normalise(data.test.images, "float32"), data.test.labels
    if fault == "labels shuffled":
        labels = rng.permutation(labels)
    if fault.startswith("held-out images are"):
        held_out, truth = normalise(images[:500], "float32"), labels[:500]
    if fault.startswith("held-out images not"):
        held_out = (held_out + 1) / 2
    steps, step, records = count // BATCH, 0, []
    for epoch in range(1, epochs + 1):
        total = norms = 0.0
        for chosen in rng.permutation(count).reshape(steps, BATCH):
            step += 1
            down, right, flip = draw_augmentation(rng, BATCH, 4 if augment else 0)
            batch = normalise(crop_and_flip(images, chosen, down, right, flip & augment), "float32")
            if fault != "gradients never cleared":
                grads.flat.fill(0)
            total += float(loss_and_grads(CONFIG, params, batch, labels[chosen], grads))
            norms += float(clip_norm(grads, 1.0))
            optimizer.step(grads, learning_rate(step, epochs * steps, peak, steps), step)
        logits = infer(CONFIG, params, held_out)
        measured = {
            "train_loss": total / steps,
            "grad_norm": norms / steps,
            "val_loss": float(cross_entropy(logits, truth)[0]),
            "val_accuracy": float((logits.argmax(axis=1) == truth).mean()),
        }
        records.append({"epoch": epoch} | {key: round(value, 3) for key, value in measured.items()})
    print(fault or peak, records[0], records[-1], flush=True)
    return records


if __name__ == "__main__":
    main()
