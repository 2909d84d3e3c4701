"""A residual sum and the LayerNorm that follows it, in one kernel, forward and backward.

In a pre-norm block every sum x + f(x) is read by a LayerNorm. A Sum is therefore only noted where the branch
f(x) is computed, and carried out by the LayerNorm: the branch is read once more, and no kernel has to write
what the next one reads.
"""

from typing import NamedTuple

from tinyvit.engine.cuda.calls.layer_norm import layer_norm_backward, partial_rows, residual_layer_norm
from tinyvit.engine.cuda.calls.noise import Mask
from tinyvit.engine.cuda.launch import Buffer
from tinyvit.engine.cuda.plan.draft import Draft


class Sum(NamedTuple):
    """Tokens x (rows, D) plus a branch (R, D), to be added up by the next LayerNorm.

    The bias of the branch, named here, and its mask are not in it yet. If the branch has fewer rows than x,
    it belongs to the rows 0, every, 2 every and so on: the class tokens. Without a branch, x is all.
    """

    x: Buffer
    branch: Buffer | None = None
    bias: str | None = None
    mask: Mask | None = None
    every: int = 1


class Norm(NamedTuple):
    """The LayerNorm of a sum: the sum itself, total (R, D), and the result y (R, D); mean and r (R,)."""

    name: str
    sum: Sum
    total: Buffer
    y: Buffer
    mean: Buffer
    r: Buffer


def add_and_norm(draft: Draft, tokens: Sum, name: str) -> Norm:
    """Carry out the sum, and the LayerNorm whose parameters have this name."""
    x, branch = tokens.x, tokens.branch
    shape = x.shape if branch is None else branch.shape
    total = x if branch is None else draft.array(f"{name}.x", *shape)
    y = draft.array(f"{name}.y", *shape)
    mean, r = (draft.array(f"{name}.{what}", shape[0], dtype="float32") for what in ("mean", "r"))
    weight, bias = (draft.parameters[f"{name}.{what}"] for what in ("weight", "bias"))
    branch_bias = draft.parameters[tokens.bias] if tokens.bias else None
    to_add = x, branch, branch_bias, tokens.mask, total if branch else None
    launch = residual_layer_norm(*to_add, weight, bias, y, mean, r, tokens.every, draft.config.eps)
    draft.add(launch, name)
    return Norm(name, tokens, total, y, mean, r)


def add_and_norm_backward(
    draft: Draft, dy: Buffer, norm: Norm, skip: Buffer | None = None, skip_every: int = 1
) -> tuple[Buffer, Buffer]:
    """Gradients of the tokens x and of the branch, (R, D) both, given dy (R, D).

    skip is the gradient that reaches the sum past the LayerNorm; if it has fewer rows, it belongs to the rows
    0, skip_every, 2 skip_every and so on. Without a mask, both gradients are the same array.
    """
    R, D = norm.total.shape
    mask = norm.sum.mask
    dx = draft.array(f"{norm.name}.dx", R, D)
    dbranch = draft.array(f"{norm.name}.dbranch", R, D) if mask else None
    partials = draft.partials(partial_rows(R, draft.options.multiprocessors), 3, D)
    forward = norm.total, norm.mean, norm.r, draft.parameters[f"{norm.name}.weight"]
    launch = layer_norm_backward(dy, *forward, skip, dx, mask, dbranch, partials, skip_every)
    draft.add(launch, f"{norm.name} backward")
    names = (f"{norm.name}.weight", f"{norm.name}.bias", norm.sum.bias)
    for place, name in enumerate(names):
        if name is not None:
            draft.sums_to(name, partials, place * D, 3 * D)
    return dx, dbranch or dx
