"""The plan of a batch: all its random choices, made before any pixel is touched.

There is no random state to save: the order of an epoch's images depends only on (seed, epoch), a batch's
augmentation on (seed, step), and dropout on (seed, step, image). A resumed run, a batch split into parts, and
another device therefore all make the same random choices.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from tinyvit.backend import Array, array_module
from tinyvit.data.augment import crop_and_flip, draw_augmentation, to_input
from tinyvit.data.augmentation import Policy, apply_operations, unchanged
from tinyvit.ops import Noise

_PURPOSES = {"order": 1, "augmentation": 2, "operations": 3}
_PER_IMAGE = ("indices", "down", "right", "flip", "operations")


@dataclass(frozen=True, eq=False)
class BatchPlan:
    """Which images a batch takes, and what is done to each.

    step counts updates from 1. indices, down, right and flip are (B,): the indices of the training images,
    how far the window of each is moved in pixels, and whether the image is mirrored. operations (B, n) are
    what is then done to it, one after another (see data.augmentation). first is the index of the plan's first
    image in the whole batch: 0, unless the plan is part of another one.
    """

    seed: int
    step: int
    indices: np.ndarray
    down: np.ndarray
    right: np.ndarray
    flip: np.ndarray
    operations: np.ndarray
    first: int = 0

    def __len__(self) -> int:
        return len(self.indices)

    def parts(self, count: int) -> list[BatchPlan]:
        """The plan in `count` parts of nearly equal size, in order."""
        cuts = np.array_split(np.arange(len(self)), count)
        return [self._part(slice(cut[0], cut[-1] + 1)) for cut in cuts if len(cut)]

    def noise(self) -> Noise:
        """The random numbers of dropout and stochastic depth for these images."""
        return Noise(self.seed, self.step, self.first)

    def _part(self, piece: slice) -> BatchPlan:
        cut = {name: getattr(self, name)[piece] for name in _PER_IMAGE}
        return replace(self, first=self.first + int(piece.start), **cut)


def epoch_order(seed: int, epoch: int, count: int) -> np.ndarray:
    """The order (count,) in which an epoch, counted from 0, goes through the images of a training set."""
    return _draws(seed, "order", epoch).permutation(count)


def plan_batch(
    seed: int,
    step: int,
    indices: np.ndarray,
    padding: int = 0,
    flip: bool = False,
    *,
    policy: Policy = unchanged,
) -> BatchPlan:
    """The plan for update number `step`, counted from 1, on the images with these indices (B,).

    padding is how far, in pixels, a window may move; flip mirrors half of the images at random. policy
    draws the operations: see data.augmentation.make_policy.
    """
    down, right, mirrored = draw_augmentation(_draws(seed, "augmentation", step), len(indices), padding)
    operations = policy(_draws(seed, "operations", step), len(indices))
    return BatchPlan(seed, step, indices, down, right, mirrored & flip, operations)


def make_batch(
    images: Array, labels: Array, plan: BatchPlan, dtype: np.dtype, size: tuple[int, int]
) -> tuple[Array, Array]:
    """The batch that a plan describes, on the device of the training set.

    images uint8 (n, H, W, 3) and labels (n,) are the training set; size is the (height, width) of the model's
    images. Returns normalised images (B, height, width, 3) and labels (B,).
    """
    asarray = array_module(images).asarray
    chosen = asarray(plan.indices)
    pixels = crop_and_flip(images, chosen, asarray(plan.down), asarray(plan.right), asarray(plan.flip))
    return to_input(apply_operations(pixels, plan.operations), dtype, size), labels[chosen]


def _draws(seed: int, purpose: str, number: int) -> np.random.Generator:
    """An independent random generator for each purpose and each epoch or step."""
    return np.random.Generator(np.random.Philox((seed, _PURPOSES[purpose], number)))
