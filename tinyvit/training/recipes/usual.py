"""Settings that work well for each data set, on a CPU and on a GPU; train uses them by default.

Those for CIFAR are named recipes: see recipes.named.
"""

import math
from typing import Any

from tinyvit.model.config import WITHOUT_TRANSFORMER
from tinyvit.optim import usual_learning_rate, usual_weight_decay
from tinyvit.training.recipes.named import named_recipe
from tinyvit.training.settings import Settings

# Seed 0: 99.4 % on MNIST and, with flips, 89.8 % on Fashion-MNIST, four minutes each on two cores.
_GREY: dict[str, Any] = {
    "model": "micro/7",
    "pool": "mean",
    "init": "mimetic",
    "epochs": 10,
    "batch_size": 128,
    "optimizer": "muon",
    "lr": 3e-3,
    "warmup_epochs": 0.5,
    "crop_padding": 2,
}
_PHOTOS = {"model": "nano/8", "epochs": 30, "batch_size": 32, "crop_padding": 8, "flip": True}
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
    "mnist": _GREY,
    "fashion-mnist": _GREY | {"flip": True},
    "arrays": {"model": "nano/4", "epochs": 30, "batch_size": 32, "crop_padding": 2},
    **dict.fromkeys(("folder", "parquet"), _PHOTOS),
}
_NAMED_ON_CPU = {"cifar10": "cpu-8-minutes", "cifar100": "cpu-8-minutes"}
_NAMED_ON_GPU = {"cifar10": "gpu-2-minutes", "cifar100": "gpu-2-minutes"}

# What a ResNet differs in: it has no class token, no positions, no blocks to skip, no attention, no patches.
RESNET: dict[str, Any] = {name: WITHOUT_TRANSFORMER[name][0] for name in ("pool", "position", "drop_path")}
RESNET |= {"init": "official", "whiten": False, "patch_dropout": 0.0}
# Without labels (appendix B.1.2). The paper's rate of 2e-4 is for a far larger model, and a million steps.
PRE_TRAINING: dict[str, Any] = {
    "target": "mean-colour",
    "smoothing": 0.0,
    "drop_path": 0.0,
    "mixup": 0.0,
    "cutmix": 0.0,
    "patch_dropout": 0.0,
}

# What suits an optimiser that the user chooses, where the recipe is for another.
FROM_SCRATCH_WITH: dict[str, dict[str, Any]] = {
    "adam": {"weight_decay": usual_weight_decay("adam")},
    "sgd": {"lr": usual_learning_rate("sgd", Settings.lr)},
}
FINE_TUNING_WITH: dict[str, dict[str, Any]] = {name: {"lr": 1e-3} for name in ("adam", "adamw", "muon")}
FINE_TUNING_WITH["adam"] |= FROM_SCRATCH_WITH["adam"]

# One factor of LoRA begins at 0, where the gradient of the other is 0 too: SGD would take long to leave.
LORA: dict[str, Any] = {"optimizer": "adamw", "lr": 1e-3}

# Paper, Table 4: SGD with momentum 0.9, no weight decay, gradients clipped at 1, cosine; see also below.
FINE_TUNING: dict[str, Any] = {
    "optimizer": "sgd",
    "lr": 0.01,
    "weight_decay": 0.0,
    "epochs": 5,
    "warmup_epochs": 0.5,
    "flip": True,
}
FINE_TUNING_PHOTOS: dict[str, Any] = {"crop_scale": 0.65}  # for photos, besides
_FINE_TUNING_BATCH = 512  # the paper's
FINE_TUNING_STEPS = 500  # the paper's for its smallest data sets
_AT_A_TIME = 64  # images: large ones quickly take up the memory


def recipe(dataset: str, on_gpu: bool) -> dict[str, Any]:
    """Settings for a data set, by name; those not given keep the defaults of Settings."""
    name = (_NAMED_ON_GPU if on_gpu else _NAMED_ON_CPU).get(dataset)
    return settings_of(name) if name else _ON_CPU[dataset]


def settings_of(name: str) -> dict[str, Any]:
    """What a named recipe sets, for whatever data set. Raises UserError if there is none of that name."""
    given = {key: value for key, value in named_recipe(name).given.items() if key != "dataset"}
    return given | {"recipe": name}


def small_batch(usual: int, images: int) -> int:
    """A batch of the usual size or, if there are few images, so small that an epoch has 16 steps."""
    while usual > 1 and 16 * usual > images:
        usual //= 2
    return usual


def fitted_fine_tuning(images: int, chosen: dict[str, Any]) -> dict[str, Any]:
    """Batch size, its parts and perhaps steps, for fine-tuning on this many images; user choices are kept.

    The batch size is the paper's or, if there are few images, small enough for an epoch to have 16 steps. If
    the recipe's epochs would be too few steps, the length is given in steps instead.
    """
    batch_size = chosen.get("batch_size") or small_batch(_FINE_TUNING_BATCH, images)
    parts = chosen.get("accumulate") or math.ceil(batch_size / _AT_A_TIME)
    fitted = {"batch_size": batch_size, "accumulate": parts}
    if "epochs" in chosen or "steps" in chosen:
        return fitted
    steps = FINE_TUNING["epochs"] * (images // batch_size)
    return fitted if steps >= FINE_TUNING_STEPS else fitted | {"steps": FINE_TUNING_STEPS}
