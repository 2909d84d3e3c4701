"""What ranks exchange in a step between backward and update: the sum of their gradients.

Each rank computes the gradients of its own images, weighted by their share of the whole batch. The sum over
ranks is then the gradient of the mean loss of that batch, whose norm is what is clipped.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from tinyvit.backend import Array
from tinyvit.data import BatchPlan
from tinyvit.model import Params
from tinyvit.optim import clip_norm
from tinyvit.optim.sharded import Sharded

if TYPE_CHECKING:
    from tinyvit.engine.reference import Training


def own_parts(plan: BatchPlan, training: Training) -> list[BatchPlan]:
    """This rank's share of a batch, in the parts that it computes one after another."""
    return plan.parts(training.ranks.size)[training.ranks.rank].parts(training.accumulate)


def sum_and_clip(grads: Params, training: Training) -> Array:
    """Sum the gradients over ranks and clip them, in place; returns the norm before clipping. A collective.

    If the optimiser is sharded, this is done only for the part of the gradients that it needs on this rank.
    """
    ranks, optimizer = training.ranks, training.optimizer
    if isinstance(optimizer, Sharded):
        ranks.reduce_scatter(grads.flat)
        return clip_norm(optimizer.piece(grads), training.clip, ranks.sum)
    ranks.all_reduce(grads.flat)
    return clip_norm(grads, training.clip)
