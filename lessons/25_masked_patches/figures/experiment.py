"""The experiment of this lesson: python -m lessons.25_masked_patches.figures.experiment

Pre-trains a small model on the built-in shapes without their labels, then fine-tunes it with a few labels,
beside a fresh model that gets the same labels and the same steps. Writes experiment.json, from which draw.py
draws. It takes about ten minutes on one core.
"""

import json
from pathlib import Path

import numpy as np

import tinyvit
from tinyvit.data import epoch_order, normalise
from tinyvit.data.shapes import make_shapes
from tinyvit.insight.few_shot import choose_shots
from tinyvit.model import infer, initialise, preset
from tinyvit.objectives.masked_patches import loss_and_grads
from tinyvit.objectives.patch_targets import pretraining_config, true_patches
from tinyvit.ops import Corruption, Noise, cross_entropy, draw_corruption
from tinyvit.ops.corruption import MASKED
from tinyvit.optim import AdamW, clip_norm, learning_rate

HERE = Path(__file__).parent
# Pooling by the mean: nothing would teach a class token what to collect.
CONFIG = pretraining_config(preset("nano/4", 32, 10, pool="mean"), "mean-colour", 0.5)
STEPS, BATCH, PEAK = 5000, 10, 2e-3
SHOTS, EPOCHS, SEEDS = 50, 40, (0, 1)  # labels a class, passes over them
SHOWN = 6  # pictures in the figure


def main():
    data = make_shapes(test=1000)
    params, losses = pretrain(normalise(data.train.images, np.float32))
    found = {"losses": losses, **judge(params, normalise(data.test.images, np.float32))}
    write(found)
    found["tuned"] = {
        "fresh": [fine_tuned(initialise(CONFIG, seed), data, seed) for seed in SEEDS],
        "pretrained": [fine_tuned(params, data, seed) for seed in SEEDS],
    }
    print(found["tuned"])
    write(found)


def write(found):
    lines = ",\n".join(f'"{name}": {json.dumps(value)}' for name, value in found.items())
    (HERE / "experiment.json").write_text("{\n" + lines + "\n}\n", encoding="utf-8")


def pretrain(images):
    """The parameters after STEPS steps, and the loss of each step."""
    params = initialise(CONFIG)
    grads, optimizer, losses = params.zeros_like(), AdamW(params, weight_decay=0.05), []
    per_epoch = len(images) // BATCH
    for step in range(1, STEPS + 1):
        epoch, k = divmod(step - 1, per_epoch)
        batch = images[epoch_order(0, epoch, len(images))[k * BATCH : (k + 1) * BATCH]]
        grads.flat[...] = 0
        losses.append(
            round(float(loss_and_grads(CONFIG, params, batch, None, grads, noise=Noise(0, step))), 4)
        )
        clip_norm(grads, 1.0)
        optimizer.step(grads, learning_rate(step, STEPS, PEAK, STEPS // 10), step)
        if step % 250 == 0:
            print(step, np.mean(losses[-250:]).round(3), flush=True)
    return params, losses


def judge(params, images):
    """Loss and share of right colours on images held out, and what it predicts for a few of them."""
    corruption = draw_corruption(Noise(1, 0), len(images), CONFIG.patches, 0.5, np)
    logits = []
    for start in range(0, len(images), 50):
        some = slice(start, start + 50)
        logits.append(infer(CONFIG, params, images[some], Corruption(*(part[some] for part in corruption))))
    z = np.concatenate(logits)  # (n, 32, 512)
    every = np.broadcast_to(np.arange(CONFIG.patches), (len(images), CONFIG.patches))
    colours = true_patches(CONFIG, images, every, "mean-colour")  # (n, 64)
    truth = np.take_along_axis(colours, corruption.chosen, axis=1)  # (n, 32)
    loss, _ = cross_entropy(z.reshape(-1, z.shape[2]), truth.reshape(-1))
    shown = np.take_along_axis(corruption.source, corruption.chosen, axis=1)
    masked, kept = shown == MASKED, shown == corruption.chosen
    said = z.argmax(axis=2)
    found = {
        "held out": {
            "loss": float(loss),
            "masked": share(said == truth, masked),
            "replaced": share(said == truth, ~masked & ~kept),
            "kept": share(said == truth, kept),
            "masked, by the neighbours": share(vote(colours, corruption) == truth, masked),
        },
        "chosen": corruption.chosen[:SHOWN].tolist(),
        "source": corruption.source[:SHOWN].tolist(),
        "said": said[:SHOWN].tolist(),
    }
    print(found["held out"])
    return found


def share(right, among):
    """The share of True in `right`, where `among` is True."""
    return float(right[among].mean())


def vote(colours, corruption):
    """For each chosen patch, the commonest colour that is shown around it; if none is, in the picture."""
    shown = np.where(
        corruption.source == MASKED,
        MASKED,
        np.take_along_axis(colours, np.maximum(corruption.source, 0), axis=1),
    )
    grid = np.pad(shown.reshape(-1, 8, 8), ((0, 0), (1, 1), (1, 1)), constant_values=MASKED)
    guesses = np.empty_like(corruption.chosen)
    for image, i in np.ndindex(guesses.shape):
        row, column = divmod(int(corruption.chosen[image, i]), 8)
        around = np.delete(grid[image, row : row + 3, column : column + 3], 4)
        seen = around[around != MASKED] if (around != MASKED).any() else shown[image][shown[image] != MASKED]
        guesses[image, i] = np.bincount(seen).argmax()
    return guesses


def fine_tuned(params, data, seed):
    """Accuracy on the test images, after training on SHOTS images of each class from these parameters.

    Also the last training loss, and the accuracy on the training images with their three channels exchanged.
    """
    model, losses = tinyvit.Model(CONFIG, params, threads=1).with_new_head(len(data.classes)), []
    few = data.train.take(choose_shots(data.train.labels, data.classes, SHOTS, seed))
    settings = {"epochs": EPOCHS, "batch_size": 25, "lr": 2e-3, "flip": True, "seed": seed}
    model.fit(few.images, few.labels, **settings, report=lambda _, loss: losses.append(loss))
    return {
        "right": accuracy(model, data.test.images, data.test.labels),
        "loss": round(losses[-1], 4),
        "recoloured": accuracy(model, np.roll(few.images, 1, axis=3), few.labels),
    }


def accuracy(model, images, labels):
    """The share of images right."""
    return float((model.logits(images).argmax(axis=1) == labels).mean())


if __name__ == "__main__":
    main()
