"""The experiments of this lesson: python -m lessons.24_pictures_and_words.figures.experiment

Trains both towers by each loss from two seeds, and by changed settings from one. Adds what it finds to
experiment.json, from which draw.py draws, and leaves out what is there. Each training takes half a minute.
"""

import importlib
import json
from pathlib import Path

import numpy as np

pictures = importlib.import_module("lessons.24_pictures_and_words.pictures")
towers = importlib.import_module("lessons.24_pictures_and_words.towers")

FOUND = Path(__file__).parent / "experiment.json"
RUNS = {
    "softmax, seed 0": {},
    "sigmoid, seed 0": {"loss": "sigmoid"},
    "softmax, seed 1": {"seed": 1},
    "sigmoid, seed 1": {"loss": "sigmoid", "seed": 1},
    "softmax, scale 1 for good": {"scale": 1.0, "learned": False},
    "softmax, scale 100 for good": {"scale": 100.0, "learned": False},
    "sigmoid, twins called wrong": {"loss": "sigmoid", "twins": False},
    "softmax, width 16": {"width": 16},
    "softmax, pairs in fours": {"batch": 4, "steps": 12_800},
}


def main():
    found = json.loads(FOUND.read_text("utf-8")) if FOUND.exists() else {}
    for name, settings in RUNS.items():
        if name in found:
            continue
        trained, losses = towers.train(**settings)
        found[name] = {"losses": [round(loss, 4) for loss in losses[:: max(1, len(losses) // 800)]]}
        found[name]["last"] = round(float(np.mean(losses[-len(losses) // 8 :])), 3)
        found[name]["scale"] = round(float(np.exp(trained.text["log_scale"][0])), 2)
        found[name]["bias"] = round(float(trained.text["bias"][0]), 2)
        for group, pairs in (("never", pictures.NEVER), ("shown", pictures.SHOWN)):
            shares = towers.zero_shot(trained, pairs, settings.get("seed", 0))
            found[name][group] = [round(float(share), 3) for share in shares]
        if name == "softmax, seed 0":
            first = towers.first_towers(0, towers.FIRST_SCALES["softmax"], 0.0)
            found["before"], found["after"] = matrix(first), matrix(trained)
        print(name, {key: value for key, value in found[name].items() if key != "losses"}, flush=True)
        lines = ",\n".join(f"{json.dumps(key)}: {json.dumps(value)}" for key, value in found.items())
        FOUND.write_text("{\n" + lines + "\n}\n", encoding="utf-8")


def examples():
    """A picture of each pair that is never shown in training, and their captions."""
    rng = np.random.default_rng(3)
    each = [pictures.draw(1, (pair,), rng)[:2] for pair in pictures.NEVER]
    return np.concatenate([image for image, _ in each]), [captions[0] for _, captions in each]


def matrix(pair):
    """The cosines of those pictures, in rows, with those captions, in columns."""
    images, captions = examples()
    return (towers.embed_images(pair, images) @ towers.embed_captions(pair, captions).T).round(3).tolist()


if __name__ == "__main__":
    main()
