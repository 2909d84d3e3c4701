"""Settings that work well for each data set, on a CPU and on a GPU; train uses them by default."""

from __future__ import annotations

import math
from typing import Any

from tinyvit.model.config import WITHOUT_TRANSFORMER

_CIFAR = {"flip": True}
# So few epochs call for little augmentation: in 4 epochs, moving crops by 2 pixels instead of 4 gained 1%.
_CIFAR_CPU = _CIFAR | {"model": "micro/4", "epochs": 22, "batch_size": 64, "lr": 2e-3, "crop_padding": 2}
_CIFAR_GPU = _CIFAR | {
    "model": "mini/4",
    "epochs": 100,
    "batch_size": 128,
    "lr": 1e-3,
    "warmup_epochs": 5.0,
    "smoothing": 0.1,
    "drop_path": 0.1,
    "crop_padding": 4,
}

_ON_CPU: dict[str, dict[str, Any]] = {
    "shapes": {
        "model": "nano/4",
        "epochs": 12,
        "batch_size": 50,
        "lr": 2e-3,
        "warmup_epochs": 0.5,
        "crop_padding": 2,
        "flip": True,
    },
    "cifar10": _CIFAR_CPU,
    "cifar100": _CIFAR_CPU,
    "folder": {"model": "nano/8", "epochs": 30, "batch_size": 32, "crop_padding": 8, "flip": True},
}
_ON_GPU: dict[str, dict[str, Any]] = {"cifar10": _CIFAR_GPU, "cifar100": _CIFAR_GPU}

# What a ResNet differs in: it has no class token, no positions, and no blocks to skip.
RESNET: dict[str, Any] = {name: WITHOUT_TRANSFORMER[name][0] for name in ("pool", "position", "drop_path")}
# Without labels (appendix B.1.2). The paper's rate of 2e-4 is for a far larger model, and a million steps.
PRE_TRAINING: dict[str, Any] = {
    "target": "mean-colour",
    "smoothing": 0.0,
    "drop_path": 0.0,
    "mixup": 0.0,
    "cutmix": 0.0,
}

# Paper, Table 4: SGD with momentum 0.9, no weight decay, gradients clipped at 1, cosine; see also below.
FINE_TUNING: dict[str, Any] = {
    "optimizer": "sgd",
    "lr": 0.01,
    "weight_decay": 0.0,
    "epochs": 5,
    "warmup_epochs": 0.5,
    "flip": True,
}
_FINE_TUNING_BATCH = 512  # the paper's
_FINE_TUNING_STEPS = 500  # the paper's for its smallest data sets
_AT_A_TIME = 64  # images: large ones quickly take up the memory


def recipe(dataset: str, on_gpu: bool) -> dict[str, Any]:
    """Settings for a data set, by name; those not given keep the defaults of Settings."""
    return (_ON_GPU if on_gpu else _ON_CPU).get(dataset) or _ON_CPU[dataset]


def fitted_fine_tuning(images: int, chosen: dict[str, Any]) -> dict[str, int]:
    """Batch size, its parts and perhaps steps, for fine-tuning on this many images; user choices are kept.

    The batch size is the paper's or, if there are few images, small enough for an epoch to have 16 steps. If
    the recipe's epochs would be too few steps, the length is given in steps instead.
    """
    batch_size = chosen.get("batch_size")
    if batch_size is None:
        batch_size = _FINE_TUNING_BATCH
        while batch_size > 1 and 16 * batch_size > images:
            batch_size //= 2
    parts = chosen.get("accumulate") or math.ceil(batch_size / _AT_A_TIME)
    fitted = {"batch_size": batch_size, "accumulate": parts}
    if "epochs" in chosen or "steps" in chosen:
        return fitted
    steps = FINE_TUNING["epochs"] * (images // batch_size)
    return fitted if steps >= _FINE_TUNING_STEPS else fitted | {"steps": _FINE_TUNING_STEPS}
