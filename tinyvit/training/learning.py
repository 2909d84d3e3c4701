"""Builds the optimiser of a run and finds the frozen blocks, which need no backward pass."""

from functools import partial
from typing import Any

from tinyvit.errors import UserError
from tinyvit.model import Params, ViTConfig
from tinyvit.model.layout import ParamSpec, layout
from tinyvit.optim import LoRA, Optimizer, SubsetOptimizer, frozen_blocks, make_optimizer, rates
from tinyvit.optim.lora import check_rank


def make_learning(
    config: ViTConfig,
    params: Params,
    optimizer: str,
    weight_decay: float,
    *,
    freeze: str | None = None,
    layer_decay: float = 1.0,
    lora: int | None = None,
    lora_alpha: float | None = None,
    seed: int = 0,
) -> tuple[Optimizer, int | None]:
    """The optimiser of that name for what learns, and how many blocks are frozen together with the stem.

    freeze and layer_decay are those of optim.rates. lora is the rank of LoRA, if it is used (see optim.lora):
    everything but the head is then frozen, unless freeze says otherwise. Its alpha is the rank by default.
    Raises UserError for what does not go together, or would learn nothing.
    """
    make: Any = partial(make_optimizer, optimizer, weight_decay=weight_decay)
    is_new = not any(bool(params[row.name].any()) for row in params.rows if row.name in _HEADS)
    found = learning_rates(config, freeze, layer_decay, lora, is_new)
    if found is None:
        return make(params), None
    if lora is None:
        return SubsetOptimizer(make, params, found), frozen_blocks(found, config.layers)
    made = LoRA(make, params, found, lora, lora if lora_alpha is None else lora_alpha, seed)
    stem_learns = frozen_blocks(found, config.layers) is None
    return made, None if stem_learns else 0


_HEADS = ("head.weight", "head2.weight")


def learning_rates(
    config: ViTConfig,
    freeze: str | None,
    layer_decay: float,
    lora: int | None,
    new_head: bool = True,
) -> dict[str, float] | None:
    """The factor of each parameter's learning rate, by name; None if everything learns alike.

    The arguments are those of make_learning; new_head is true of a head of zeros, which passes no gradient on
    until it has learned something itself. Raises UserError for what does not go together, or learns nothing.
    """
    if lora is None and freeze is None and layer_decay == 1:
        return None
    if lora is not None and layer_decay != 1:
        raise UserError("LoRA learns at one rate in all blocks: omit --layer-decay, or --lora.")
    if lora is not None and not config.has_transformer:
        raise UserError("LoRA is for the matrices of attention, and a ResNet has none: omit --lora.")
    rows: tuple[ParamSpec, ...] = layout(config)
    found = rates(rows, config.layers, "backbone" if lora and freeze is None else freeze, layer_decay)
    if new_head and not any(found[name] for name in _HEADS if name in found):
        raise UserError(
            f"--freeze {freeze} would freeze the new head, which is all zeros: every answer would stay the "
            "same, and nothing below it would learn. Leave the head to learn."
        )
    if lora is not None:
        check_rank(rows, found, lora)
    return found
