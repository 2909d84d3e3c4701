"""Train a small ViT with three kinds of positions on 32 x 32 pixels, then test it on larger pictures.

    python -m lessons.22_rotary.figures.measure

The larger pictures are drawn anew, in two ways. `wider` shows more ground, and the shapes stay as large as
they were; `closer` makes them larger in proportion. On either, positions are read in two ways: `extended`,
where the grid goes on beyond what was trained on, and `stretched`, where it covers the same range in smaller
steps. A learned table can only be stretched. Writes measured.json (ten minutes on one
core).
"""

import json
from dataclasses import replace
from pathlib import Path

import numpy as np

import tinyvit
from tinyvit.data import ImageSet, shapes
from tinyvit.model import layout
from tinyvit.model.later.rotary import Rotary
from tinyvit.ops import positions_sincos

HERE = Path(__file__).parent
SIDE, LARGER = 32, (48, 64)
PATCHES = Rotary(100.0, pairs=False)  # places are counted in patches: extended
SHARES = replace(PATCHES, reach=8.0)  # in eighths of the picture: at 32 pixels the very same, then stretched
KINDS = {
    "1d": {"position": "1d"},
    "sincos": {"position": "sincos"},
    "rotary": {"position": "none", "rotary": PATCHES},
}
SEEDS, EPOCHS = (0, 1), 6


def drawn(side: int, scale: float) -> ImageSet:
    """2,000 test pictures of that side, with shapes `scale` times as large as usual."""
    before = shapes.SIZE, shapes.SMALLEST, shapes.LARGEST
    shapes.SIZE, shapes.SMALLEST, shapes.LARGEST = side, scale * before[1], scale * before[2]
    try:
        return shapes.make_shapes(train=0).test
    finally:
        shapes.SIZE, shapes.SMALLEST, shapes.LARGEST = before


def tests() -> dict[str, ImageSet]:
    """The pictures that the models are tested on, by name."""
    found = {f"{SIDE}": drawn(SIDE, 1)}
    for side in LARGER:
        found |= {f"{side} wider": drawn(side, 1), f"{side} closer": drawn(side, side / SIDE)}
    return found


def trained(kind: str, seed: int) -> tinyvit.Model:
    """A model with this kind of positions, trained on 10,000 pictures of the usual size."""
    data = shapes.make_shapes()
    model = tinyvit.preset("nano/4", SIDE, data.classes, seed=seed, threads=1, **KINDS[kind])
    settings = {"epochs": EPOCHS, "batch_size": 50, "lr": 2e-3, "flip": True, "seed": seed}
    return model.fit(data.train.images, data.train.labels, **settings)


def accuracies(model: tinyvit.Model) -> dict[str, float]:
    """The share of pictures of each test of which the class is found."""
    found = {}
    for name, test in tests().items():
        there = model.at_resolution(test.images.shape[1])
        found[name] = float((there.logits(test.images).argmax(axis=1) == test.labels).mean())
    return found


def readings(kind: str, model: tinyvit.Model) -> dict[str, tinyvit.Model]:
    """The ways to read a model's positions at another size: the same model at the size of its training."""
    if kind == "1d":
        return {"stretched": model}
    if kind == "rotary":
        return {
            "extended": model,
            "stretched": replace(model, config=replace(model.config, rotary=SHARES)),
        }
    return {"extended": model, "stretched": with_table(model)}


def with_table(model: tinyvit.Model) -> tinyvit.Model:
    """The same model, with its sines and cosines as a table, which is resized like a learned one."""
    config = replace(model.config, position="1d")
    table = positions_sincos(config.grid, config.width)
    params = model.params.copy_to(layout(config), exclude=("position",))
    params["position"] = np.concatenate([np.zeros_like(table[:1]), table])  # a class token has none
    return replace(model, config=config, params=params)


def main() -> None:
    rows = []
    for kind in KINDS:
        for seed in SEEDS:
            for read, model in readings(kind, trained(kind, seed)).items():
                rows.append({"kind": kind, "read": read, "seed": seed} | accuracies(model))
                print(rows[-1], flush=True)
    (HERE / "measured.json").write_text(json.dumps(rows, indent=1) + "\n", "utf-8")


if __name__ == "__main__":
    main()
