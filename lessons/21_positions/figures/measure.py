"""Train a small ViT with each kind of positions to say in which column of patches the light is.

    python -m lessons.21_positions.figures.measure

The light is never in the four patches UNSEEN while training, one in each row and in each column. Writes
measured.json, which draw.py draws (three minutes on two cores).
"""

import json
from pathlib import Path

import numpy as np

from tinyvit.model import ViTConfig, infer, initialise
from tinyvit.objectives import loss_and_grads
from tinyvit.optim import AdamW, learning_rate

HERE = Path(__file__).parent
KINDS = ("none", "1d", "2d", "sincos", "relative")
GRID = 4  # patches each way
UNSEEN = ((0, 1), (1, 3), (2, 0), (3, 2))
SEEN = tuple(cell for cell in np.ndindex(GRID, GRID) if cell not in UNSEEN)
SEEDS, STEPS, BATCH, LR = 5, 400, 32, 1e-2
SIZES = {"width": 16, "mlp_width": 32, "heads": 2, "layers": 2, "classes": GRID}


def pictures(
    cells: tuple[tuple[int, int], ...], count: int, rng: np.random.Generator
) -> tuple[np.ndarray, np.ndarray]:
    """Dark pictures (count, 8, 8, 3) with one light patch, in one of the cells; and the column it is in."""
    rows, columns = np.array(cells)[rng.integers(len(cells), size=count)].T
    patches = rng.uniform(-1, -0.5, (count, GRID, GRID, 2, 2, 3)).astype(np.float32)
    patches[np.arange(count), rows, columns] += 1.3
    return patches.swapaxes(2, 3).reshape(count, 2 * GRID, 2 * GRID, 3), columns


def train(kind: str, seed: int) -> tuple[ViTConfig, np.ndarray]:
    """A configuration with this kind of positions, and the parameters after training."""
    config = ViTConfig(2 * GRID, 2, position=kind, **SIZES)
    params, rng = initialise(config, seed), np.random.default_rng(seed)
    grads, optimizer = params.zeros_like(), AdamW(params)
    for step in range(1, STEPS + 1):
        grads.flat.fill(0)
        loss_and_grads(config, params, *pictures(SEEN, BATCH, rng), grads)
        optimizer.step(grads, learning_rate(step, STEPS, LR, 30), step)
    return config, params


def accuracy(config: ViTConfig, params, cells: tuple[tuple[int, int], ...]) -> float:
    """The share of new pictures with the light in these cells of which the column is found."""
    images, columns = pictures(cells, 400, np.random.default_rng(99))
    return float((infer(config, params, images).argmax(axis=1) == columns).mean())


def main() -> None:
    rows = []
    for kind in KINDS:
        for seed in range(SEEDS):
            config, params = train(kind, seed)
            found = {"seen": accuracy(config, params, SEEN), "unseen": accuracy(config, params, UNSEEN)}
            rows.append({"kind": kind, "seed": seed} | found)
            print(rows[-1], flush=True)
    (HERE / "measured.json").write_text(json.dumps(rows, indent=1) + "\n", "utf-8")


if __name__ == "__main__":
    main()
