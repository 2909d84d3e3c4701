"""The reference engine: one operation after another, on the whole batch. It defines the correct result."""

import math
from dataclasses import dataclass
from functools import partial

from tinyvit import model
from tinyvit.backend import Array
from tinyvit.data import BatchPlan, make_batch
from tinyvit.model import Params, ViTConfig
from tinyvit.model.passes import check_images
from tinyvit.model.stage import frozen_up_to, infer_through
from tinyvit.objectives import Objective, loss_and_grads
from tinyvit.ops import Corruption, Noise
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
    operations        True if the plans have operations for the images (see data.augment)
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


class ReferenceEngine:
    """A model and the way its training steps are carried out.

    Works on NumPy and on CuPy arrays: the device follows the parameters. This is the interface of every
    engine: `label` is its name in printed lines, step is for training, logits and features for inference.
    note, if not empty, is one line that tells the user why this engine computes, and not what was asked for;
    it can change in the course of a run.
    """

    label = "reference engine"
    note = ""

    def __init__(
        self,
        config: ViTConfig,
        params: Params,
        objective: Objective = loss_and_grads,
        training: Training | None = None,
    ):
        self.config, self.params = config, params
        self.objective, self._training = objective, training
        self._grads: Params | None = None
        self._spread: ParallelMap = one_after_another

    @property
    def trains(self) -> bool:
        """True if the engine was made to train; otherwise it only predicts."""
        return self._training is not None

    @property
    def training(self) -> Training:
        """Data, optimiser and options of training. Raises ValueError if the engine was made without."""
        if self._training is None:
            raise ValueError("this engine only predicts: make one with training=Training(...) to take steps")
        return self._training

    @property
    def ranks(self) -> Ranks:
        """The processes that share the images of each batch; an engine that only predicts is alone."""
        return self.training.ranks if self.trains else ALONE

    @property
    def frozen(self) -> int | None:
        """Number of blocks that do not learn, as the stem does not; None if everything learns."""
        return self.training.frozen if self.trains else None

    @property
    def grads(self) -> Params:
        """The gradients, allocated on first use, since inference does not need them."""
        if self._grads is None:
            self._grads = self.params.zeros_like()
        return self._grads

    def summary(self, batch: int) -> str:
        """One-line summary of how a batch of this size is computed."""
        return self.label

    def step(self, plan: BatchPlan, lr: float) -> tuple[Array, Array]:
        """One update; returns the mean loss of the batch before the update, and the norm of its gradient.

        Both are arrays without axes, so that nothing has to wait for a GPU. Of several ranks, each computes a
        part of the batch, and all return the same.
        """
        t = self.training
        loss: Array = 0.0
        parts = t.own_parts(plan)
        for part in parts:
            config, dtype = self.config, self.params.flat.dtype
            images, targets = make_batch(t.images, t.labels, part, dtype, config.image_size, config.classes)
            share = len(part) / len(plan)
            loss = loss + self.loss_and_grads(images, targets, part.noise(), share, part is parts[0])
        norm = t.sum_and_clip(self.grads, self._spread)
        t.optimizer.step(self.grads, lr, plan.step)
        if t.average:
            t.average.update(plan.step)
        return t.ranks.sum(loss), norm

    def loss_and_grads(
        self,
        images: Array,
        targets: Array,
        noise: Noise | None = None,
        share: float = 1.0,
        fresh: bool = False,
    ) -> Array:
        """The objective's loss for images (B, H, W, 3), times share; adds the gradients to grads.

        If fresh, grads become these gradients, whatever was in them before.
        """
        if fresh:
            self.grads.clear(self.frozen)
        more = {"noise": noise, "share": share, "arrange": partial(frozen_up_to, self.frozen)}
        return self.objective(self.config, self.params, images, targets, self.grads, **more)

    def logits(self, images: Array, corruption: Corruption | None = None) -> Array:
        """Logits (B, C) for images (B, H, W, 3), without dropout; of patches, (B, n, C): see model.stages."""
        check_images(self.config, images)
        return infer_through(model.stages(self.config, corruption=corruption), self.params, images)

    def features(self, images: Array) -> Array:
        """Features, the input of the head, (B, D) or (B, pre_logits), of images (B, H, W, 3)."""
        return model.features(self.config, self.params, images)
