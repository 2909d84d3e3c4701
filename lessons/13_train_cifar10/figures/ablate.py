"""Four short runs on 3,000 images of CIFAR-10, with and without crops and flips, two seeds each.

python -m lessons.13_train_cifar10.figures.ablate DATA_DIR

writes ablation.json beside this file, from which draw.py draws. It takes a quarter of an hour.
"""

import json
import sys
from pathlib import Path

import numpy as np

from tinyvit.data import crop_and_flip, draw_augmentation, normalise
from tinyvit.data.cifar import load_cifar
from tinyvit.model import infer, initialise, preset
from tinyvit.objectives import loss_and_grads
from tinyvit.ops import cross_entropy
from tinyvit.optim import AdamW, clip_norm, learning_rate

CONFIG = preset("nano/8", 32, 10)
IMAGES, HELD_OUT, EPOCHS, BATCH, PEAK, PADDING = 3000, 2000, 25, 50, 2e-3, 2


def main(folder):
    train = load_cifar("cifar10", Path(folder)).train
    runs = []
    for seed in (0, 1):
        for augment in (True, False):
            runs.append({"augment": augment, "seed": seed, "epochs": run(train, augment, seed)})
            print(runs[-1]["augment"], seed, runs[-1]["epochs"][-1], flush=True)
    lines = ",\n".join(json.dumps(each) for each in runs)
    (Path(__file__).parent / "ablation.json").write_text(f"[\n{lines}\n]\n", encoding="utf-8")


def run(data, augment, seed):
    """[training loss, held-out loss, held-out accuracy] of every epoch; augmentation is all that differs."""
    params = initialise(CONFIG, seed)
    grads, optimizer = params.zeros_like(), AdamW(params, weight_decay=0.05)
    rng = np.random.default_rng(seed)
    others = slice(IMAGES, IMAGES + HELD_OUT)
    held_out, truth = normalise(data.images[others], "float32"), data.labels[others]
    steps, step, epochs = IMAGES // BATCH, 0, []
    for _ in range(EPOCHS):
        total = 0.0
        for chosen in rng.permutation(IMAGES).reshape(steps, BATCH):
            step += 1
            down, right, flip = draw_augmentation(rng, BATCH, PADDING)
            if not augment:
                down, right, flip = 0 * down, 0 * right, flip & False
            batch = normalise(crop_and_flip(data.images, chosen, down, right, flip), "float32")
            grads.flat.fill(0)
            total += float(loss_and_grads(CONFIG, params, batch, data.labels[chosen], grads))
            clip_norm(grads, 1.0)
            optimizer.step(grads, learning_rate(step, EPOCHS * steps, PEAK, steps), step)
        logits = infer(CONFIG, params, held_out)
        loss, accuracy = float(cross_entropy(logits, truth)[0]), float((logits.argmax(1) == truth).mean())
        epochs.append([round(total / steps, 4), round(loss, 4), round(accuracy, 4)])
    return epochs


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    main(sys.argv[1])
