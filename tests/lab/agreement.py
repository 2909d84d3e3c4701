"""The agreement of the CUDA engine on this GPU with the reference on the CPU.

    python -m tests.lab.agreement

takes a small model through a few kinds of step in each precision, and prints how far loss and gradients are
from those of the reference in float64. The exit status is 1 if any is too far.
"""

import sys
from dataclasses import replace
from types import ModuleType

import numpy as np

from tests.lab.ceilings import usable_gpu
from tinyvit.backend import to_numpy
from tinyvit.engine import ReferenceEngine
from tinyvit.engine.cuda.engine import CudaEngine
from tinyvit.engine.cuda.support import unsupported_reason
from tinyvit.model import ViTConfig, initialise, preset
from tinyvit.model.later.rotary import DINOV3
from tinyvit.objectives import loss_and_grads, masked_patches
from tinyvit.objectives.masked_patches import pretraining_config
from tinyvit.ops import Noise
from tinyvit.support.shell.ending import ending

# Largest distance of the loss and of all gradients together, relative to their size.
TOLERANCE = {"fp32": 1e-4, "tf32": 1e-2, "bf16": 2e-2}
_IMAGES = 16


def cases() -> dict[str, ViTConfig]:
    """Small models that have all that the kernels of forward and backward know, and one of Ti/4's shapes."""
    noisy = {"dropout": 0.1, "attention_dropout": 0.1, "drop_path": 0.2}
    nano = preset("nano/8", 32, 10)
    return {
        "nano/8": nano,
        "nano/8, dropout and stochastic depth": replace(nano, **noisy),
        "nano/8, mean of the patches, exact GELU": replace(nano, pool="mean", gelu="exact"),
        "nano/8, sines and cosines, tanh layer": replace(nano, position="sincos", pre_logits=48),
        "nano/8, 2-D positions, registers": replace(nano, position="2d", registers=2),
        "nano/8, rotary, class token and mean": replace(nano, rotary=DINOV3, class_token=True, pool="mean"),
        "nano/8, colours of hidden patches": pretraining_config(nano, "mean-colour", 0.5),
        "Ti/4, two blocks": replace(preset("Ti/4", 32, 10), layers=2),
    }


def distances(config: ViTConfig, precision: str, xp: ModuleType, seed: int = 0) -> tuple[float, float]:
    """The distances of the engine's loss and gradients from the reference's, relative to their size."""
    rng = np.random.default_rng(seed)
    params = initialise(config, seed)
    params.flat += rng.normal(0, 0.05, params.count).astype("float32")  # a new head is zero: no gradients
    images = rng.standard_normal((_IMAGES, *config.image_size, config.channels)).astype("float32")
    labels, noise = np.full(_IMAGES, 3), Noise(1, 2)  # of other classes, gradients would cancel, errors not
    objective = masked_patches.loss_and_grads if config.predicts_patches else loss_and_grads
    reference = ReferenceEngine(config, params.astype("float64"), objective)
    right = float(reference.loss_and_grads(images.astype("float64"), labels, noise))
    engine = CudaEngine(config, params.to(xp), objective, precision=precision)
    found = float(engine.loss_and_grads(xp.asarray(images), xp.asarray(labels), Noise(1, 2)))
    expected, grads = reference.grads.flat, to_numpy(engine.grads.flat)
    return abs(found - right) / abs(right), float(np.linalg.norm(grads - expected) / np.linalg.norm(expected))


def main() -> int:
    """Print the table; returns the exit status."""
    device = usable_gpu()
    print(f"the CUDA engine on {device.label} and the reference in float64: relative distances\n")
    print(f"{'':42}{'precision':>10}{'loss':>10}{'gradients':>11}")
    wrong = 0
    for name, config in cases().items():
        for precision, tolerance in TOLERANCE.items():
            if reason := unsupported_reason(config, initialise(config).to(device.xp), precision=precision):
                print(f"{name:42}{precision:>10}  left out: {reason}")
                continue
            found = distances(config, precision, device.xp)
            bad = not all(distance < tolerance for distance in found)  # NaN is wrong too
            wrong += bad
            print(
                f"{name:42}{precision:>10}{found[0]:10.1e}{found[1]:11.1e}{'   WRONG' if bad else ''}",
                flush=True,
            )
    print(f"\n{f'{wrong} are WRONG' if wrong else 'all agree'}")
    return 1 if wrong else 0


if __name__ == "__main__":
    with ending("tests.lab.agreement"):
        status = main()
    sys.exit(status)
