"""What a plan depends on besides the model and the number of images."""

import math
from dataclasses import dataclass

from tinyvit.engine.cuda.calls.signature import MULTIPROCESSORS, SHARED_LIMIT

PRECISIONS = ("fp32", "tf32", "bf16")


@dataclass(frozen=True)
class Update:
    """The update of the parameters: hyperparameters of an optimiser, and the largest norm of the gradient.

    kind is adamw, adam, sgd or muon. momentum is for sgd, which needs nothing else, and for muon, whose AdamW
    has betas and eps.
    """

    kind: str
    betas: tuple[float, float] = (0.9, 0.999)
    eps: float = 1e-8
    weight_decay: float = 0.0
    clip: float = math.inf
    momentum: float = 0.95


@dataclass(frozen=True)
class Options:
    """What a plan depends on.

    precision is fp32, tf32 (float32 numbers, products in TF32) or bf16 (bfloat16 activations and products).
    noise says whether dropout and stochastic depth act.

    dataset is the shape (n, H, W, 3) of the uint8 images from which the batch is taken; without it, the batch
    is given as normalised float32 images, and its targets beside them: labels, or distributions if soft.
    mixing and erasing say whether the plan of the batch has them, and operations how many each image has.
    share is the part of a larger batch that these images are. If the plan is the first for a batch, it is
    fresh: it writes the gradients and the loss, and does not add to them. update follows the last.

    For a model that predicts patches, target is what it predicts of corrupted ones, and corrupt the share of
    these: see objectives. In inference, as many as `given` are corrupted, and given with the batch.

    multiprocessors is how many the card has. Some kernels have as many blocks as fit on them, each of which
    leaves a partial sum. shared_limit is how many bytes of shared memory it allows a block. Another card can
    round a gradient in another way, the same card never does.
    """

    precision: str = "fp32"
    trains: bool = True
    noise: bool = False
    dataset: tuple[int, int, int, int] | None = None
    mixing: bool = False
    erasing: bool = False
    operations: int = 0
    soft: bool = False
    smoothing: float = 0.0
    target: str = "mean-colour"
    corrupt: float = 0.5
    given: int = 0
    share: float = 1.0
    fresh: bool = True
    update: Update | None = None
    multiprocessors: int = MULTIPROCESSORS
    shared_limit: int = SHARED_LIMIT
