"""Recipes: settings by name, with what they have reached, and those that work well for each data set.

Each named recipe is a file NAME.json beside this one, a JSON object with three keys:

about      what the recipe is for; its first sentence also stands in lists
settings   what differs from the defaults of Settings
reached    runs by this recipe that were seen to the end, each with the fields of Reached

The usual settings of a data set, on a CPU and on a GPU, are what train uses by default. Those for CIFAR are
named recipes.
"""

import json
import math
import statistics
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from tinyvit.model.config import WITHOUT_TRANSFORMER
from tinyvit.optim import usual_learning_rate, usual_weight_decay
from tinyvit.support.errors import UserError, did_you_mean
from tinyvit.support.figures import duration, img_per_second
from tinyvit.training.settings import Resume, Settings, that_resume

ON_CPU = ("cpu-8-minutes", "cpu-20-minutes", "cpu-hour", "cpu-best")
ON_GPU = ("gpu-30-seconds", "gpu-2-minutes", "gpu-best")
RECIPES = (*ON_CPU, *ON_GPU)
# Times in names are those of one kind of machine.
WITH_MACHINES = f"{', '.join(ON_CPU)} (on two Zen 5 cores), {', '.join(ON_GPU)} (on an H200)"
FOLDER = Path(__file__).parent
# Settings that may differ without making another recipe of it: where and how to compute, and what to look at.
_FREE = that_resume(Resume.FREE, Resume.COMPUTE)
_FREE |= {"recipe", "dataset", "seed", "accumulate", "ranks", "evaluate_every"}


@dataclass(frozen=True)
class Reached:
    """One run that followed a recipe to its end.

    copy says which files of the data set were read, such as 'official' or 'JPEG copy'. accuracy is the share
    of the test images that were classified correctly after the last epoch (0..1), passes the number of passes
    through the training set, minutes the whole run with its evaluations. images_per_second is the speed of
    the last passes, in which no patch is dropped. processor also says how many cores were used, and date is
    the day it ended, such as '2026-11-22'.
    """

    dataset: str
    copy: str
    accuracy: float
    seed: int
    passes: float
    processor: str
    images_per_second: float
    minutes: float
    date: str


@dataclass(frozen=True)
class Recipe:
    """The contents of a recipe's file; given is what it sets."""

    name: str
    about: str
    given: dict[str, Any]
    reached: tuple[Reached, ...]

    @cached_property
    def settings(self) -> Settings:
        """The complete settings. Raises UserError if the file gives a setting that does not exist."""
        return Settings.from_dict({**self.given, "recipe": self.name}, FOLDER / f"{self.name}.json")

    @property
    def purpose(self) -> str:
        """The purpose of the recipe, in one sentence without a full stop."""
        return self.about.partition(". ")[0].rstrip(".")

    def differences(self, settings: Settings) -> list[str]:
        """The names of the settings that make a run another experiment than this recipe's."""
        mine = self.settings.as_dict()
        return [
            name for name, value in settings.as_dict().items() if name not in _FREE and value != mine[name]
        ]

    def results(self) -> Iterator[str]:
        """A line for each data set and processor: accuracy, with its spread over seeds, and time."""
        groups: dict[tuple, list[Reached]] = {}
        for run in self.reached:
            groups.setdefault((run.dataset, run.copy, run.processor, run.passes), []).append(run)
        for (dataset, copy, processor, _), runs in groups.items():
            values = [100 * run.accuracy for run in runs]
            seeds = "one seed" if len(runs) == 1 else f"{len(runs)} seeds"
            time = duration(60 * statistics.mean(run.minutes for run in runs))
            speed = img_per_second(statistics.mean(run.images_per_second for run in runs))
            accuracy = f"{accuracy_of(values)}% ({dataset}, {copy}, {seeds})"
            yield f"{accuracy} in {time} at {speed} on {processor}"
        if not groups:
            yield "nobody has measured it yet"


def accuracy_of(values: Sequence[float]) -> str:
    """Accuracies in percent, one a seed: at most two as they are, more as their mean ± standard deviation."""
    if len(values) <= 2:
        return ", ".join(f"{value:.1f}" for value in values)
    return f"{statistics.mean(values):.1f} ± {statistics.stdev(values):.1f}"


def followed(settings: Settings) -> str:
    """The recipe that a run with these settings followed, and in what it differed; empty if it named none."""
    if settings.recipe not in RECIPES:  # or one that this version does not have
        return ""
    changed = ", ".join(
        name.replace("_", " ") for name in named_recipe(settings.recipe).differences(settings)
    )
    return f"{settings.recipe}, but for {changed}" if changed else settings.recipe


def named_recipe(name: str) -> Recipe:
    """The recipe of that name. Raises UserError if there is none."""
    if name not in RECIPES:
        known = "; ".join(f"{each} ({named_recipe(each).purpose})" for each in RECIPES)
        raise UserError(
            f"there is no recipe {name!r}{did_you_mean(name, RECIPES)}, expected one of: {known}."
        )
    record = json.loads((FOLDER / f"{name}.json").read_text("utf-8"))
    reached = tuple(Reached(**run) for run in record["reached"])
    return Recipe(name, record["about"], record["settings"], reached)


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
    """The settings of a named recipe, for any data set. Raises UserError if there is none of that name."""
    given = {key: value for key, value in named_recipe(name).given.items() if key != "dataset"}
    return given | {"recipe": name}


def small_batch(usual: int, images: int, least: int = 1) -> int:
    """A batch of the usual size or, if there are few images, so small that an epoch has 16 steps."""
    while usual >= 2 * least and 16 * usual > images:
        usual //= 2
    return usual


def fitted_fine_tuning(images: int, chosen: dict[str, Any]) -> dict[str, Any]:
    """Batch size, its parts and perhaps steps, for fine-tuning on this many images; user choices are kept.

    The batch size is the paper's or, if there are few images, small enough for an epoch to have 16 steps. If
    the recipe's epochs would be too few steps, the length is given in steps instead.
    """
    least = chosen.get("repeats") or 1
    batch_size = chosen.get("batch_size") or small_batch(_FINE_TUNING_BATCH, images, least)
    parts = chosen.get("accumulate") or math.ceil(batch_size / _AT_A_TIME)
    fitted = {"batch_size": batch_size, "accumulate": parts}
    if "epochs" in chosen or "steps" in chosen:
        return fitted
    steps = FINE_TUNING["epochs"] * (images // batch_size)
    return fitted if steps >= FINE_TUNING_STEPS else fitted | {"steps": FINE_TUNING_STEPS}
