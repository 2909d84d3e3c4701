"""The plan of a batch: all its random choices, made before any pixel is touched.

There is no random state to save: the order of an epoch's images depends only on (seed, epoch), a batch's
augmentation on (seed, step), and dropout on (seed, step, image). A resumed run, a batch split into parts, and
another device therefore all make the same random choices.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from tinyvit.backend import Array, array_module, to_numpy
from tinyvit.data.augment import (
    Crops,
    Policy,
    apply_operations,
    crop_and_flip,
    crop_and_resize,
    draw_augmentation,
    draw_crops,
    draw_jitter,
    normalise,
    unchanged,
)
from tinyvit.data.dataset import Rows, class_counts
from tinyvit.data.mixing import Erasing, Mixing, draw_erasing, draw_mixing, erase, mix_images, mix_labels
from tinyvit.ops import Noise
from tinyvit.ops.resize import resize_images
from tinyvit.support.errors import UserError

_PURPOSES = {
    "order": 1,
    "augmentation": 2,
    "operations": 3,
    "mixing": 5,
    "erasing": 6,
    "crops": 7,
    "jitter": 8,
    "own": 9,
}
_PER_IMAGE = ("indices", "down", "right", "flip", "operations", "mixing", "erasing", "crops")
Change = Callable[[np.ndarray, np.random.Generator], np.ndarray]  # one's own, of the pixels of an image


@dataclass(frozen=True, eq=False)
class BatchPlan:
    """The images that a batch takes, and what is done to each.

    step counts updates from 1. indices, down, right and flip are (B,): the indices of the training images,
    how far the window of each is moved in pixels, and whether the image is mirrored. operations (B, n) are
    what is then done to it, one after another (see data.augment). mixing and erasing are those of each
    image, or None. crops, or None, are the boxes that are taken of the images and resized, in place of moved
    windows. own, or None, is a function that changes each image last, before it is erased and mixed: see
    Model.fit. first is the index of the plan's first image in the whole batch: 0, unless the plan is part of
    another one. Mixing joins each image with the one after it, and the last with the first of the whole
    batch; in a part of a batch, after is the plan of the one image that follows the part.
    """

    seed: int
    step: int
    indices: np.ndarray
    down: np.ndarray
    right: np.ndarray
    flip: np.ndarray
    operations: np.ndarray
    mixing: Mixing | None = None
    erasing: Erasing | None = None
    crops: Crops | None = None
    own: Change | None = None
    first: int = 0
    after: BatchPlan | None = None

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
        part = self._cut(piece)
        if self.after is None:
            return part
        follows = slice(piece.stop, piece.stop + 1)
        return replace(part, after=self.after if piece.stop == len(self) else self._alone(follows))

    def _alone(self, piece: slice) -> BatchPlan:
        """Images of the plan that are not mixed with others."""
        return replace(self._cut(piece), mixing=None, after=None)

    def _cut(self, piece: slice) -> BatchPlan:
        cut = {name: _cut(getattr(self, name), piece) for name in _PER_IMAGE}
        return replace(self, first=self.first + int(piece.start), **cut)


def _cut(values: Any, piece: slice) -> Any:
    """A piece of an array, of each array of a named tuple, or of nothing."""
    if isinstance(values, tuple):
        return type(values)(*(each[piece] for each in values))
    return None if values is None else values[piece]


def epoch_order(
    seed: int, epoch: int, count: int, repeats: int = 1, weights: np.ndarray | None = None
) -> np.ndarray:
    """The order (count,) in which an epoch, counted from 0, goes through the images of a training set.

    With weights (count,), an image comes as often as its share of their sum says, count times that share,
    rounded up or down at random so that this is its mean over the epochs (systematic sampling: an image has
    a stretch of the line from 0 to count, and marks are set 1 apart). A draw with replacement has the same
    means, and leaves out many images even where all weights are equal.

    With repeats, each image comes this many times in a row (repeated augmentation, Hoffer et al. 2020). An
    epoch is as long as without, so it takes only some of the images.
    """
    draws = _draws(seed, "order", epoch)
    order = draws.permutation(count)
    if weights is not None:
        ends = np.cumsum(weights[order], dtype=np.float64)
        marks = (np.arange(count) + draws.random()) * (ends[-1] / count)
        order = draws.permutation(order[np.searchsorted(ends, marks, side="right").clip(max=count - 1)])
    return order[: -(-count // repeats)].repeat(repeats)[:count]


def balancing(labels: np.ndarray) -> np.ndarray:
    """Weights (n,) for epoch_order with which each class comes as often as the others."""
    return 1 / class_counts(labels)[labels]


def indices_of_batch(order: np.ndarray, number: int, size: int, repeats: int = 1) -> np.ndarray:
    """The indices (B,) of the images of batch `number`, counted from 0, of an epoch in this order.

    The repetitions of an image are dealt out over the batch, since neighbours are those that may be mixed.
    """
    indices = order[number * size : (number + 1) * size]
    return np.concatenate([indices[k::repeats] for k in range(repeats)])


def plan_batch(
    seed: int,
    step: int,
    indices: np.ndarray,
    padding: int = 0,
    flip: bool = False,
    *,
    policy: Policy = unchanged,
    mixup: float = 0.0,
    cutmix: float = 0.0,
    erase: float = 0.0,
    scale: float = 1.0,
    jitter: float = 0.0,
    own: Change | None = None,
) -> BatchPlan:
    """The plan for update number `step`, counted from 1, on the images with these indices (B,).

    padding is how far, in pixels, a window may move; flip mirrors half of the images at random. policy
    draws the operations: see data.augment.make_policy. mixup and cutmix are as in draw_mixing; erase is
    the probability that a rectangle of an image is erased. scale is as in draw_crops, 1 for no crops; jitter
    is how far the factors of data.augment.draw_jitter are from 1. own is a function of the user's.
    """
    count = len(indices)
    down, right, mirrored = draw_augmentation(_draws(seed, "augmentation", step), count, padding)
    operations = policy(_draws(seed, "operations", step), count)
    if jitter:
        drawn = draw_jitter(_draws(seed, "jitter", step), count, jitter)
        operations = np.concatenate([drawn, operations], axis=1)
    plan = BatchPlan(seed, step, indices, down, right, mirrored & flip, operations, own=own)
    if scale < 1:
        plan = replace(plan, crops=draw_crops(_draws(seed, "crops", step), count, scale))
    if erase:
        plan = replace(plan, erasing=draw_erasing(_draws(seed, "erasing", step), count, erase))
    if mixup or cutmix:
        mixing = draw_mixing(_draws(seed, "mixing", step), count, mixup, cutmix)
        plan = replace(plan, mixing=mixing, after=plan._alone(slice(0, 1)))
    return plan


def make_batch(
    images: Array,
    labels: Array,
    plan: BatchPlan,
    dtype: np.dtype,
    size: tuple[int, int],
    classes: int | None = None,
) -> tuple[Array, Array]:
    """The batch that a plan describes, on the device of the training set.

    images uint8 (n, H, W, 3) and labels (n,) are the training set; size is the (height, width) of the model's
    images, and classes, without which images cannot be mixed, how many classes there are. Returns normalised
    images (B, height, width, 3) and targets: labels (B,) or, of mixed images, distributions (B, classes).
    """
    asarray = array_module(images).asarray
    x, targets = _pixels(images, plan, dtype, size), labels[asarray(plan.indices)]
    if plan.mixing is not None and plan.after is not None:
        if classes is None:
            raise ValueError("the plan mixes images: expected the number of classes")
        x = mix_images(x, _pixels(images, plan.after, dtype, size), plan.mixing)
        shares = asarray(plan.mixing.shares(*x.shape[1:3]).astype(dtype))
        targets = mix_labels(targets, labels[asarray(plan.after.indices)], shares, classes)
    return resize_images(x, size), targets


def _pixels(images: Array, plan: BatchPlan, dtype: np.dtype, size: tuple[int, int]) -> Array:
    """The images that a plan describes, normalised and erased, not yet mixed; size is that of crops."""
    if isinstance(images, Rows):
        images, plan = np.asarray(images[plan.indices]), replace(plan, indices=np.arange(len(plan)))
    if plan.crops is None:
        pixels = crop_and_flip(images, plan.indices, plan.down, plan.right, plan.flip)
    else:
        boxes = plan.crops.boxes(*images.shape[1:3])
        pixels = crop_and_resize(images, plan.indices, boxes, plan.flip, size)
    pixels = apply_operations(pixels, plan.operations)
    if plan.own is not None:
        pixels = array_module(pixels).asarray(_changed(to_numpy(pixels), plan, plan.own))
    x = normalise(pixels, dtype)
    if plan.erasing is not None:
        erase(x, plan.erasing)
    return x


def _changed(images: np.ndarray, plan: BatchPlan, own: Change) -> np.ndarray:
    """The images (B, H, W, 3) after a function of the user's, called for one at a time.

    Each has a generator of its own, so that the parts of a batch are changed as the whole batch is.
    """
    for i, image in enumerate(images):
        changed = np.asarray(own(image, _draws(plan.seed, "own", plan.step, plan.first + i)))
        if changed.shape != image.shape or changed.dtype != image.dtype:
            raise UserError(
                f"augment returned an array of shape {changed.shape} and type {changed.dtype}, expected the "
                f"changed image: shape {image.shape}, type {image.dtype}."
            )
        images[i] = changed
    return images


def _draws(seed: int, purpose: str, *number: int) -> np.random.Generator:
    """An independent random generator for each purpose and each epoch or step, or image of a step."""
    return np.random.Generator(np.random.Philox((seed, _PURPOSES[purpose], *number)))
