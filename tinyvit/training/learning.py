"""From settings to engines: what learns, by which optimiser, and an engine for each stage of training.

A run that drops patches has two stages: most steps see some patches of each image, the last ones all. A step
on two fifths of the patches takes less than half of the time, and teaches more than half as much: what is in
an image is in most of its patches, and a model that never sees all of them memorises less. In the end
it has to get used to all of them. Each stage has an engine of its own, over one set of parameters.

Sources: PatchDropout (Liu et al. 2022, arXiv 2208.07220); FLIP (Li et al. 2022, arXiv 2212.00794), which also
ends with all patches.
"""

import math
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np

from tinyvit.backend import array_module
from tinyvit.data import ImageSet
from tinyvit.engine import ReferenceEngine, Training, make_engine
from tinyvit.model import Params, ViTConfig
from tinyvit.model.layout import ParamSpec, layout
from tinyvit.objectives import Objective
from tinyvit.optim import (
    Average,
    LoRA,
    Optimizer,
    SubsetOptimizer,
    frozen_blocks,
    make_optimizer,
    rates,
)
from tinyvit.optim.lora import check_rank
from tinyvit.support.distributed import current
from tinyvit.support.errors import UserError
from tinyvit.training.settings import Settings

ALL_PATCHES = 0.2  # of the steps, the last ones
FIXED = 0.1  # of a step, about: what no patch has a part in, such as the optimiser
_HEADS = ("head.weight", "head2.weight")


class Stages:
    """The model that each step trains, and the cost of a step, as a share of what the last ones cost.

    configs are that with dropped patches, if any are dropped, and the model itself. They differ in nothing
    else. `done` is the share of the run's steps that have been taken. Raises UserError if the model cannot
    drop patches.
    """

    def __init__(self, settings: Settings, config: ViTConfig):
        rate = settings.patch_dropout
        self.configs = [replace(config, patch_dropout=rate), config] if rate else [config]
        self._dropping = 1 - ALL_PATCHES if rate else 0.0
        self._cost = FIXED + (1 - FIXED) * self.configs[0].trained_tokens / config.tokens

    def number(self, done: float) -> int:
        """The place in configs of the model that the next step trains, counted from 0."""
        return 0 if done < self._dropping else len(self.configs) - 1

    def cost(self, done: float) -> float:
        """The cost of the next step."""
        return self._cost if done < self._dropping else 1.0

    def cost_left(self, done: float) -> float:
        """The cost of the rest of the run, as a share of a whole run that sees all patches."""
        return 1 - done - max(0.0, self._dropping - done) * (1 - self._cost)


def make_engines(
    s: Settings,
    stages: Stages,
    params: Params,
    data: ImageSet,
    objective: Objective,
    own_augment: bool = False,
) -> list[ReferenceEngine]:
    """An engine for each stage, which share the parameters, the optimiser and the images, on one device.

    own_augment is true if a function of the user's changes the images.
    Raises UserError for settings that do not go together, or with which nothing would learn.
    """
    xp = array_module(params.flat)
    optimizer, frozen = make_learning(s, stages.configs[-1], params)
    training = Training(
        data.images if xp is np else xp.asarray(data.images),
        xp.asarray(data.labels),
        optimizer,
        s.clip or math.inf,
        s.accumulate,
        Average(params, s.ema) if s.ema else None,
        operations=s.augment != "none" or s.colour_jitter > 0,
        by_arrays=s.crop_scale < 1 or own_augment,
        ranks=current(),
        frozen=frozen,
    )
    return [
        make_engine(config, params, objective, training, s.threads, s.precision) for config in stages.configs
    ]


def make_learning(s: Settings, config: ViTConfig, params: Params) -> tuple[Optimizer, int | None]:
    """The optimiser of what learns, and how many blocks are frozen together with the stem.

    With LoRA, everything but the head is frozen, unless s.freeze says otherwise. Raises UserError for what
    does not go together, or would learn nothing.
    """
    make: Any = partial(make_optimizer, s.optimizer, weight_decay=s.weight_decay)
    is_new = not any(bool(params[row.name].any()) for row in params.rows if row.name in _HEADS)
    found = learning_rates(s, config, is_new)
    if found is None:
        return make(params), None
    if s.lora is None:
        return SubsetOptimizer(make, params, found), frozen_blocks(found, config.layers)
    made = LoRA(make, params, found, s.lora, s.lora if s.lora_alpha is None else s.lora_alpha, s.seed)
    stem_learns = frozen_blocks(found, config.layers) is None
    return made, None if stem_learns else 0


def learning_rates(s: Settings, config: ViTConfig, new_head: bool = True) -> dict[str, float] | None:
    """The factor of each parameter's learning rate, by name; None if everything learns alike.

    new_head is true of a head of zeros, which passes no gradient on until it has learned something itself.
    Raises UserError for what does not go together, or learns nothing.
    """
    if s.lora is None and s.freeze is None and s.layer_decay == 1:
        return None
    if s.lora is not None and s.layer_decay != 1:
        raise UserError("LoRA learns at one rate in all blocks: omit --layer-decay, or --lora.")
    if s.lora is not None and not config.has_transformer:
        raise UserError("LoRA is for the matrices of attention, and a ResNet has none: omit --lora.")
    rows: tuple[ParamSpec, ...] = layout(config)
    freeze = "backbone" if s.lora and s.freeze is None else s.freeze
    factors = rates(rows, config.layers, freeze, s.layer_decay)
    if new_head and not any(factors[name] for name in _HEADS if name in factors):
        raise UserError(
            f"--freeze {s.freeze} would freeze the new head, which is all zeros: every answer would stay the "
            "same, and nothing below it would learn. Leave the head to learn."
        )
    if s.lora is not None:
        check_rank(rows, factors, s.lora)
    return factors
