"""What a run learns, and how good a model is at it: a Task for the loop, and results on a set of images."""

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from tinyvit.backend import Array, array_module
from tinyvit.data import ImageSet
from tinyvit.engine import ReferenceEngine, in_batches
from tinyvit.model import ViTConfig
from tinyvit.objectives import Objective, loss_and_grads, masked_patches, patch_targets
from tinyvit.ops import Corruption, cross_entropy, softmax
from tinyvit.support.figures import counted
from tinyvit.training.judging import ByClass, by_class, confusion_counts
from tinyvit.training.settings import Settings


@dataclass(frozen=True, eq=False, repr=False)
class Evaluation:
    """A model's results on a set of images.

    loss is the mean cross-entropy in nats; probabilities are (n, C), one row per image; counts (C, C) is the
    number of images of each class (row) that were classified as each class (column).
    """

    loss: float
    probabilities: np.ndarray
    counts: np.ndarray

    @property
    def accuracy(self) -> float:
        """The share of images that were classified correctly."""
        return float(self.counts.trace() / self.counts.sum())

    @property
    def by_class(self) -> ByClass:
        """Precision, recall and F1 of each class: see judging."""
        return by_class(self.counts)

    def __repr__(self) -> str:
        count = counted(len(self.probabilities), "image")
        return f"Evaluation({count}, loss {self.loss:.3f}, accuracy {self.accuracy:.1%})"


def evaluate(engine: ReferenceEngine, images: ImageSet, flip: bool = False) -> Evaluation:
    """The results of an engine's model on a set of images: see logits_of."""
    return evaluation_of(logits_of(engine, images, flip), images.labels)


def logits_of(engine: ReferenceEngine, images: ImageSet, flip: bool = False) -> np.ndarray:
    """The logits of an engine's model for images: (n, C), computed in batches, shared by the ranks.

    With flip, they are the mean of the logits of each image and of its mirror image.
    """
    return _shared(engine, partial(_logits_of_both, engine) if flip else engine.logits, images)


def evaluation_of(logits: np.ndarray, labels: np.ndarray) -> Evaluation:
    """The results of a model with these logits (n, C), for images of these labels (n,)."""
    loss, _ = cross_entropy(logits.astype(np.float64), labels)
    counts = confusion_counts(labels, logits.argmax(axis=1), logits.shape[1])
    return Evaluation(float(loss), softmax(logits)[0], counts)


def _logits_of_both(engine: ReferenceEngine, images: Array) -> Array:
    """The mean of the logits of images (B, H, W, 3) and of their mirror images: (B, C)."""
    mirrored = array_module(images).ascontiguousarray(images[:, :, ::-1])
    return (engine.logits(images) + engine.logits(mirrored)) / 2


COLOURS_RIGHT = "colours right"  # what the accuracy of a PatchEvaluation is called


@dataclass(frozen=True)
class PatchEvaluation:
    """How well a model predicts the corrupted patches of a set of images.

    loss is that of its objective; accuracy is the share of colours that it predicts right, None for pixels.
    """

    loss: float
    accuracy: float | None


def evaluate_patches(
    engine: ReferenceEngine, images: ImageSet, target: str, corrupt: float, seed: int
) -> PatchEvaluation:
    """The results of an engine's model on a set of images, corrupted in the same way every time."""
    config, params = engine.config, engine.params
    xp = array_module(params.flat)
    corruption = masked_patches.fixed_corruption(config, len(images), corrupt, seed, xp)

    def compute(batch: Array, *rows: Array) -> Array:
        corruption = Corruption(*rows)
        logits = engine.logits(batch, corruption)
        return masked_patches.losses_and_hits(config, logits, batch, corruption, target)

    losses, hits = _shared(engine, compute, images, *corruption).T
    accuracy = None if target == "pixels" else float(hits.mean(dtype=np.float64))
    return PatchEvaluation(float(losses.mean(dtype=np.float64)), accuracy)


def _shared(
    engine: ReferenceEngine, compute: Callable[..., Array], images: ImageSet, *others: Array
) -> np.ndarray:
    """As in_batches, each rank computing a part, unless there are fewer images than ranks. A collective."""
    ranks = engine.ranks
    alone = len(images) < ranks.size
    own = slice(None) if alone else ranks.part(len(images))
    parts = (rows[own] for rows in (images.images, *others))
    rows = in_batches(compute, engine.config, engine.params, *parts)
    return rows if alone else ranks.gather_rows(rows)


def rank(accuracy: float | None, loss: float, by_loss: bool) -> tuple[float, ...]:
    """Sorts results, better ones last: by accuracy, with ties broken by the loss, or by the loss alone."""
    if by_loss:
        return (-loss,)
    assert accuracy is not None, "whoever sorts by accuracy measures it"
    return accuracy, -loss


def figures_of_epoch(
    held_out: Evaluation | PatchEvaluation | None, test: Evaluation | PatchEvaluation | None
) -> dict[str, float | None]:
    """The losses and accuracies in an epoch's record: on the test images, and on any held out images."""
    record: dict[str, float | None] = {}
    if held_out:
        record |= {"val_loss": held_out.loss, "val_accuracy": held_out.accuracy}
    if test:
        return record | {"test_loss": test.loss, "test_accuracy": test.accuracy}
    return record | {"test_loss": None, "test_accuracy": None}


@dataclass(frozen=True)
class Task:
    """An objective to train with, and a way to measure a model on a set of images.

    The best epoch is the one with the lowest loss, if by_loss, and otherwise the most accurate one.
    blind_loss is that of a model that knows nothing.
    """

    objective: Objective
    evaluate: Callable[[ReferenceEngine, ImageSet], Evaluation | PatchEvaluation]
    by_loss: bool
    blind_loss: float


def task_of(settings: Settings, config: ViTConfig) -> Task:
    """The task of a run with these settings, for a model of this shape."""
    if settings.target is None:
        objective = partial(loss_and_grads, smoothing=settings.smoothing)
        return Task(objective, evaluate, False, math.log(max(config.classes, 2)))
    what: dict[str, Any] = {"target": settings.target, "corrupt": settings.corrupt}
    return Task(
        partial(masked_patches.loss_and_grads, **what),
        partial(evaluate_patches, **what, seed=settings.seed),
        True,
        patch_targets.blind_loss(config, settings.target),
    )
