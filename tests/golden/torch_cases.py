"""The cases of the PyTorch answers in torch_answers.npz: two models, their weights, their batches.

Weights and batches are drawn again from a seed, so that only the answers are stored. make_torch_golden.py
draws the same ones and writes the file.
"""

from dataclasses import dataclass
from pathlib import Path

import numpy as np

from tinyvit.model import Params, ViTConfig, layout

ANSWERS = Path(__file__).with_name("torch_answers.npz")

STEPS, WARMUP, PEAK, WEIGHT_DECAY, CLIP = 20, 5, 0.01, 0.1, 1.0


@dataclass(frozen=True)
class Case:
    """A model, the smoothing of its loss, and a seed."""

    config: ViTConfig
    smoothing: float
    seed: int


CASES = {
    "token": Case(ViTConfig((8, 12), 4, 20, 32, 4, 2, 7), 0.0, seed=1),
    "mean": Case(ViTConfig(12, 4, 18, 30, 3, 2, 5, pool="mean", pre_logits=11, gelu="exact"), 0.1, seed=2),
}


def draw(case):
    """Params in float64 (none 0, no gain 1), and STEPS batches of six images and labels."""
    rng = np.random.default_rng(case.seed)
    config = case.config
    params = Params.zeros(layout(config), "float64")
    for name, shape in params.shapes.items():
        values = rng.standard_normal(shape)
        if name.endswith("norm1.weight") or name.endswith("norm2.weight") or name == "norm.weight":
            params[name] = 1 + 0.2 * values
        elif len(shape) == 2 and name != "position":
            params[name] = values / np.sqrt(shape[0])
        else:
            params[name] = 0.2 * values
    batches = [
        (rng.standard_normal((6, *config.image_size, 3)), rng.integers(0, config.classes, 6))
        for _ in range(STEPS)
    ]
    return params, batches
