"""Train a ViT and a hybrid on few pictures, in order and shuffled.

    python -m lessons.20_hybrids.figures.measure

Writes measured.json, from which draw.py draws (a quarter of an hour on two cores).
"""

import json
import sys
from pathlib import Path

import numpy as np

from tinyvit.data import ImageSet, normalise
from tinyvit.data.shapes import make_shapes
from tinyvit.model import ViTConfig, forward, initialise
from tinyvit.model.cost import parameter_count
from tinyvit.ops import patchify, unpatchify
from tinyvit.training.fit import fit

HERE = Path(__file__).parent
ORDER = np.random.default_rng(0).permutation(64)  # of the 8 x 8 patches, the same for every picture
COUNTS = (300, 1000, 4000)
STEPS, BATCH = 600, 50
SHAPE = {"width": 32, "heads": 4, "layers": 2, "classes": 10}
CONFIGS = {
    "ViT": ViTConfig(32, 4, mlp_width=128, **SHAPE),
    "hybrid": ViTConfig(32, 1, mlp_width=64, resnet=(1,), resnet_width=16, resnet_groups=4, **SHAPE),
}


def shuffled(images: np.ndarray) -> np.ndarray:
    """Pictures whose 64 patches of 4 x 4 pixels have changed places, in every picture in the same way."""
    patches, _ = patchify(images, 4)
    return unpatchify(patches[:, ORDER], images.shape, 4)


def accuracy(config: ViTConfig, params, images: np.ndarray, labels: np.ndarray) -> float:
    right = 0
    for start in range(0, len(images), 200):
        part = slice(start, start + 200)
        logits, _ = forward(config, params, normalise(images[part], "float32"))
        right += int((logits.argmax(axis=1) == labels[part]).sum())
    return right / len(images)


def main(seeds=(0, 1)) -> None:
    data = make_shapes(train=max(COUNTS), test=2000)
    rows = []
    for seed in seeds:
        for count in COUNTS:
            for name, config in CONFIGS.items():
                for is_shuffled in (False, True):
                    train, test = data.train.images[:count], data.test.images
                    if is_shuffled:
                        train, test = shuffled(train), shuffled(test)
                    params = initialise(config, seed)
                    seen = ImageSet(train, data.train.labels[:count])
                    epochs = STEPS * BATCH // count
                    losses = fit(config, params, seen, epochs=epochs, batch_size=BATCH, lr=3e-3, seed=seed)
                    row = {
                        "model": name,
                        "parameters": parameter_count(config),
                        "seed": seed,
                        "count": count,
                        "shuffled": is_shuffled,
                        "loss": round(losses[-1], 3),
                        "accuracy": accuracy(config, params, test, data.test.labels),
                    }
                    print(row, file=sys.stderr, flush=True)
                    rows.append(row)
    (HERE / "measured.json").write_text(json.dumps(rows, indent=1) + "\n", "utf-8")


if __name__ == "__main__":
    main()
