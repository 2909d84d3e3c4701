"""A model is a list of stages. Its forward pass runs down the list, its backward pass runs up.

A stage is a pair of functions, and the name that its parameters begin with:

    y, cache = stage.forward(params, x)
    dx = stage.backward(dy, cache, grads)          adds the gradients of its parameters to grads

The same model can have other stages: some of them frozen, or its blocks as one stage of an engine.
"""

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from tinyvit.backend import Array
from tinyvit.model.params import Params


class Stage(NamedTuple):
    """One step from images to logits; see above."""

    name: str
    forward: Callable[[Params, Any], tuple[Any, Any]]
    backward: Callable[[Any, Any, Params], Any]


def stage(name: str, operation: Callable, operation_backward: Callable, *options: Any) -> Stage:
    """A stage that calls an operation with x, the parameters whose names begin with name, and the options.

    An operation without parameters needs a name all the same, and its backward function returns dx alone.
    """

    def forward(params: Params, x: Array) -> tuple[Array, Any]:
        return operation(x, *(params.group(name) if params.has(name) else ()), *options)

    def backward(dy: Array, cache: Any, grads: Params) -> Array:
        dx = operation_backward(dy, cache)
        if isinstance(dx, tuple):
            dx, *dparams = dx
            grads.add(name, *dparams)
        return dx

    return Stage(name, forward, backward)


def block_stage(i: int, block: Callable, block_backward: Callable, *options: Any) -> Stage:
    """Block number i as a stage, of functions with the signatures of those in model.block."""
    name = f"blocks.{i}"
    return Stage(
        name,
        lambda params, x: block(params, name, x, *options),
        lambda dy, cache, grads: block_backward(dy, cache, grads, name),
    )


def forward_through(stages: Sequence[Stage], params: Params, x: Array) -> tuple[Array, list]:
    """The output of the last stage, and the cache of every stage."""
    caches = []
    for each in stages:
        x, cache = each.forward(params, x)
        caches.append(cache)
    return x, caches


def backward_through(stages: Sequence[Stage], dy: Array, caches: list, grads: Params) -> Array:
    """The gradient of the input of the first stage; adds the gradients of all parameters to grads."""
    for each, cache in zip(reversed(stages), reversed(caches), strict=True):
        dy = each.backward(dy, cache, grads)
    return dy


def infer_through(stages: Sequence[Stage], params: Params, x: Array) -> Array:
    """The output of the last stage. No cache is kept."""
    for each in stages:
        x = each.forward(params, x)[0]
    return x


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
