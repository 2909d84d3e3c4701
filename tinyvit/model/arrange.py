"""The same model by other stages: some of them frozen, or its blocks as one stage of an engine."""

from collections.abc import Callable, Sequence
from typing import Any

from tinyvit.backend import Array
from tinyvit.model.params import Params
from tinyvit.model.stage import Stage, infer_through

Arrange = Callable[[list[Stage]], list[Stage]]


def no_backward(dy: Any, cache: Any, grads: Params) -> Any:
    """The backward function of a stage for inference only. Raises NotImplementedError."""
    raise NotImplementedError("this stage is for inference only")


def freeze(stages: Sequence[Stage]) -> Stage:
    """All these stages as one that keeps no cache and does not learn. It must be the first of a model."""

    def forward(params: Params, x: Array) -> tuple[Array, None]:
        return infer_through(stages, params, x), None

    return Stage("frozen", forward, lambda dy, cache, grads: dy)


def split_at_blocks(stages: list[Stage]) -> tuple[list[Stage], list[Stage], list[Stage]]:
    """The stages before the blocks, the blocks, and the stages after them."""
    at = [i for i, each in enumerate(stages) if each.name.startswith("blocks.")]
    first, end = (at[0], at[-1] + 1) if at else (len(stages), len(stages))
    return stages[:first], stages[first:end], stages[end:]


def frozen_up_to(block: int | None, stages: list[Stage]) -> list[Stage]:
    """The stages, of which the stem and the first `block` blocks do not learn; all learn if it is None."""
    if block is None:
        return stages
    stem, blocks, readout = split_at_blocks(stages)
    return [freeze([*stem, *blocks[:block]]), *blocks[block:], *readout]
