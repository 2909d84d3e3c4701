"""The exchange between backward pass and update: ranks sum their gradients.

Each rank computes the gradients of its own images, weighted by their share of the whole batch. The sum over
ranks is then the gradient of the mean loss of that batch, whose norm is what is clipped.

The backward pass begins with the last block, whose gradients are final long before those of the first. So the
gradients are summed piece by piece, and an engine that knows which blocks are final has their pieces summed
while it computes the others. The pieces and their order follow from the model alone. All ranks therefore make
the same calls, whatever their timing, and the bits do not depend on it.
"""

from math import prod

import numpy as np

from tinyvit.backend import Array, array_module
from tinyvit.data import BatchPlan
from tinyvit.engine.training import Training
from tinyvit.model import Params
from tinyvit.model.params import places
from tinyvit.optim import clip_norm
from tinyvit.optim.spread import ParallelMap, one_after_another

_PIECE = 1 << 18  # gradients that are worth a separate exchange: 1 MiB of float32


def own_parts(plan: BatchPlan, training: Training) -> list[BatchPlan]:
    """This rank's share of a batch, in the parts that it computes one after another."""
    return plan.parts(training.ranks.size)[training.ranks.rank].parts(training.accumulate)


class Exchange:
    """The sum of one step's gradients over ranks, in place. Its methods are collectives.

    parallel_map carries out passes over the gradients. On GPUs everything is summed at the end, and for a
    sharded optimiser too, which needs, on this rank, only its part of the sum.
    """

    def __init__(self, grads: Params, training: Training, parallel_map: ParallelMap = one_after_another):
        self._grads, self._training, self._parallel_map = grads, training, parallel_map
        whole_at_end = training.optimizer.is_sharded or array_module(grads.flat) is not np
        alone = training.ranks.size == 1
        self._pieces = [(-1, slice(None))] if alone or whole_at_end else _pieces(grads)

    @property
    def begins_early(self) -> bool:
        """True if a piece can be summed before the backward pass has reached the first block."""
        return self._pieces[0][0] > 0

    def ready(self, block: int) -> None:
        """Sum what is complete now that the gradients of this block, and of all later ones, are final."""
        while self._pieces and self._pieces[0][0] >= block:
            self._training.ranks.all_reduce(self._grads.flat[self._pieces.pop(0)[1]])

    def finish(self) -> Array:
        """Sum the rest, and clip the gradients; returns the norm before clipping."""
        ranks, optimizer, clip = self._training.ranks, self._training.optimizer, self._training.clip
        if optimizer.is_sharded:
            ranks.reduce_scatter(self._grads.flat)
            return clip_norm(optimizer.select_grads(self._grads), clip, ranks.sum, self._parallel_map)
        self.ready(-1)
        return clip_norm(optimizer.select_grads(self._grads), clip, parallel_map=self._parallel_map)


def _pieces(grads: Params) -> list[tuple[int, slice]]:
    """Pieces of the flat gradients, in the order in which they are summed, each with the number of the block
    that completes it: matrices of the blocks, from the last to the first; then, with -1, all the rest."""
    at, size = places(grads.rows), {row.name: prod(row.shape) for row in grads.rows}
    names = [row.name for row in grads.rows if row.decays and row.name.startswith("blocks.")]
    starts: dict[int, int] = {}
    for name in names:  # side by side in the buffer
        starts.setdefault(int(name.split(".")[1]), at[name])
    end = stop = at[names[-1]] + size[names[-1]] if names else 0
    pieces = []
    for block, start in reversed(starts.items()):
        if stop - start >= _PIECE:
            pieces.append((block, slice(start, stop)))
            stop = start
    rest = [slice(0, stop), slice(end, None)] if pieces else [slice(None)]
    return [*pieces, *((-1, where) for where in rest)]
