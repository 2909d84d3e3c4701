"""Data, optimiser and options of a training step."""

import math
from dataclasses import dataclass

from tinyvit.backend import Array
from tinyvit.distributed import ALONE, Ranks
from tinyvit.optim import Average, Optimizer


@dataclass(frozen=True, eq=False)
class Training:
    """Data, optimiser and options of a training step.

    images, labels    the training set, uint8 (n, H, W, 3) and (n,), on the device of the parameters
    clip              the largest allowed norm of the gradient, infinity for no clipping
    accumulate        number of parts of a batch, which are computed one after another to save memory
    average           a running average of the weights that is updated too, or None
    operations        True if the plans have operations for the images (see data.augmentation)
    crops             True if the plans have crops (see data.augment)
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
    crops: bool = False
    ranks: Ranks = ALONE
    frozen: int | None = None
