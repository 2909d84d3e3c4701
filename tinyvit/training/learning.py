"""What of a model learns, and how fast: its optimiser, and how many blocks need no backward pass."""

from functools import partial
from typing import Any

from tinyvit.errors import UserError
from tinyvit.model import Params, ViTConfig
from tinyvit.optim import LoRA, Optimizer, Partial, frozen_blocks, make_optimizer, rates
from tinyvit.optim.sharded import Sharded


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
    shard: bool = False,
) -> tuple[Optimizer, int | None]:
    """The optimiser of that name for what learns, and how many blocks are frozen together with the stem.

    freeze and layer_decay are those of optim.rates. lora is the rank of LoRA, if it is used (see optim.lora):
    everything but the head is then frozen, unless freeze says otherwise. Its alpha is the rank by default.
    shard shares the optimiser's state among the ranks. Raises UserError for what does not go together.
    """
    make: Any = partial(make_optimizer, optimizer, weight_decay=weight_decay)
    if lora is None and freeze is None and layer_decay == 1:
        return Sharded.of(make, params) if shard else make(params), None
    if shard:
        raise UserError(
            "the state of an optimiser is shared out only if everything learns alike: omit "
            "--shard-optimizer, or --freeze, --layer-decay and --lora."
        )
    if lora is None:
        found = rates(params.rows, config.layers, freeze, layer_decay)
        return Partial(make, params, found), frozen_blocks(found, config.layers)
    if layer_decay != 1:
        raise UserError("LoRA learns at one rate in all blocks: omit --layer-decay, or --lora.")
    if not config.has_transformer:
        raise UserError("LoRA is for the matrices of attention, and a ResNet has none: omit --lora.")
    found = rates(params.rows, config.layers, "backbone" if freeze is None else freeze)
    made = LoRA(make, params, found, lora, lora if lora_alpha is None else lora_alpha, seed)
    stem_learns = frozen_blocks(found, config.layers) is None
    return made, None if stem_learns else 0
