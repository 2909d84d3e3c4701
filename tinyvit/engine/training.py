"""Data, optimiser and options of a training step."""

import math
from dataclasses import dataclass

from tinyvit.backend import Array
from tinyvit.distributed import ALONE, Ranks
from tinyvit.optim import Average, Optimizer


@dataclass(frozen=True, eq=False)
class Training:
    """Data, optimiser and options of a training step.

    images uint8 (n, H, W, 3) and labels (n,) are the training set, on the device of the parameters. clip is
    the largest allowed norm of the gradient, infinity for no clipping. accumulate is the number of parts that
    a batch is split into, computed one after another to save memory. average, if given, is updated too.
    operations says whether the plans have any for the images (see data.augmentation), and crops whether they
    have those of data.crops. ranks are the processes that share the images of each batch. frozen is the number of
    blocks that do not learn, as the stem does not; None if everything learns.
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
