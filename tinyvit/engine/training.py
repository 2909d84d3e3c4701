"""Data, optimiser and options of a training step."""

import math
from dataclasses import dataclass

from tinyvit.backend import Array
from tinyvit.data import BatchPlan
from tinyvit.model import Params
from tinyvit.optim import Average, Optimizer, clip_norm
from tinyvit.optim.spread import ParallelMap, one_after_another
from tinyvit.support.distributed import ALONE, Ranks


@dataclass(frozen=True, eq=False)
class Training:
    """Data, optimiser and options of a training step.

    images, labels    the training set, uint8 (n, H, W, 3) and (n,), on the device of the parameters
    clip              the largest allowed norm of the gradient, infinity for no clipping
    accumulate        number of parts of a batch, which are computed one after another to save memory
    average           a running average of the weights that is updated too, or None
    operations        True if the plans have operations for the images (see data.augmentation)
    by_arrays         True if the plans have what no kernel computes: crops, or a function of the user's
    ranks             the processes that share the images of each batch
    frozen            number of blocks that do not learn, as the stem does not; None if everything learns
    """

    images: Array
    labels: Array
    optimizer: Optimizer
    clip: float = math.inf
    accumulate: int = 1
    average: Average | None = None
    operations: bool = False
    by_arrays: bool = False
    ranks: Ranks = ALONE
    frozen: int | None = None

    def own_parts(self, plan: BatchPlan) -> list[BatchPlan]:
        """This rank's share of a batch, in the parts that it computes one after another."""
        return plan.parts(self.ranks.size)[self.ranks.rank].parts(self.accumulate)

    def sum_and_clip(self, grads: Params, parallel_map: ParallelMap = one_after_another) -> Array:
        """Sum gradients over the ranks, in place, and clip them; returns the norm before. A collective.

        Each rank has the gradients of its own images, weighted by their share of the whole batch. Their sum
        is the gradient of the mean loss of that batch, whose norm is what is clipped. parallel_map carries
        out the passes over the gradients.
        """
        self.ranks.all_reduce(grads.flat)
        return clip_norm(self.optimizer.select_grads(grads), self.clip, parallel_map)
