"""The common form of all data sets: arrays of pixels and labels, and the names of the classes."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from tinyvit.errors import UserError


@dataclass(frozen=True, eq=False)
class ImageSet:
    """Images and their labels.

    images: uint8 (n, H, W, 3), channels last, C-contiguous; labels: int64 (n,). Anything else raises a
    ValueError.
    """

    images: np.ndarray
    labels: np.ndarray

    def __post_init__(self) -> None:
        images, labels = self.images, self.labels
        if images.dtype != np.uint8 or images.ndim != 4 or images.shape[-1] != 3:
            raise ValueError(f"images are {images.dtype} {images.shape}, expected uint8 (n, H, W, 3)")
        if not images.flags.c_contiguous:
            raise ValueError("images are not C-contiguous")
        if labels.dtype != np.int64 or labels.shape != images.shape[:1]:
            raise ValueError(f"labels are {labels.dtype} {labels.shape}, expected int64 {images.shape[:1]}")

    def __len__(self) -> int:
        return len(self.labels)

    def take(self, indices: np.ndarray) -> ImageSet:
        """A copy of the images at these indices, in their order."""
        return ImageSet(self.images[indices], self.labels[indices])


@dataclass(frozen=True, eq=False)
class Dataset:
    """Images for training and for testing; label c is called classes[c].

    validation, if there is one, was held out from train: use it to choose settings, and test only for the
    final result.
    """

    name: str
    classes: tuple[str, ...]
    train: ImageSet
    test: ImageSet
    validation: ImageSet | None = None


def hold_out(dataset: Dataset, count: int, seed: int) -> Dataset:
    """The same data with count training images moved to validation, in proportion from every class.

    The choice depends only on the seed. Raises UserError unless 1 <= count < the number of training images,
    and ValueError if the data set already has a validation set.
    """
    if dataset.validation is not None:
        raise ValueError(f"{dataset.name} already has a validation set")
    total = len(dataset.train)
    if not 1 <= count < total:
        raise UserError(
            f"cannot hold out {count:,} of {total:,} training images for validation; "
            f"choose a number from 1 to {total - 1:,}."
        )
    rng = np.random.Generator(np.random.Philox(seed))
    chosen = np.zeros(total, dtype=bool)
    for label, share in enumerate(_shares(np.bincount(dataset.train.labels), count)):
        members = np.flatnonzero(dataset.train.labels == label)
        chosen[rng.permutation(members)[:share]] = True
    return replace(
        dataset,
        train=dataset.train.take(np.flatnonzero(~chosen)),
        validation=dataset.train.take(np.flatnonzero(chosen)),
    )


def _shares(sizes: np.ndarray, count: int) -> np.ndarray:
    """count split in proportion to sizes, rounded down; what remains goes to those that lost most."""
    shares, lost = np.divmod(count * sizes, sizes.sum())
    shares[np.argsort(-lost, kind="stable")[: count - shares.sum()]] += 1
    return shares
