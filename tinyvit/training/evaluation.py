"""The task of a run, for the loop, and the results of a model on a set of images.

For n images with probabilities p (n, C) and labels y (n,), the model predicts the likeliest class, with
confidence c_i = max_j p_ij. In counts (C, C) a row is a true class and a column a predicted one:

    recall_j    = counts_jj / sum_k counts_jk       of the images of class j, how many are found           (1)
    precision_j = counts_jj / sum_k counts_kj       of what is called class j, how many are                (2)
    F1_j        = 2 counts_jj / (sum_k counts_jk + sum_k counts_kj)    their harmonic mean                 (3)

The expected calibration error (Guo et al. 2017, On Calibration of Modern Neural Networks) puts the images
into M bins by their confidence, bin m from (m - 1) / M, exclusive, to m / M, inclusive, and compares in each
how often the model is right with how sure it is:

    ECE = sum_m (n_m / n) |accuracy_m - mean confidence_m|                                                 (4)

Wilson's score interval holds every true accuracy q by which an observed accuracy a of n images would be at
most z standard deviations off, |a - q| <= z sqrt(q (1 - q) / n). The ends solve that quadratic equation:

    (a + z^2 / 2n  +-  z sqrt(a (1 - a) / n + z^2 / 4n^2)) / (1 + z^2 / n)       z = 1.96 for 95 %         (5)

It says what other images of the same kind would have given, and nothing of other runs of training.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from statistics import NormalDist
from typing import Any, NamedTuple

import numpy as np

from tinyvit.backend import Array, array_module
from tinyvit.data import ImageSet
from tinyvit.engine import ReferenceEngine, in_batches
from tinyvit.model import ViTConfig
from tinyvit.objectives import Objective, loss_and_grads, masked_patches
from tinyvit.ops import Corruption, cross_entropy, softmax
from tinyvit.support.figures import counted, percent
from tinyvit.training.settings import Settings

BINS = 15
MANY = 10_000  # images from which on the interval of an accuracy is not printed: it is +- 1 % at most


class ByClass(NamedTuple):
    """Precision, recall and F1 (C,) of each class; NaN for 0 / 0."""

    precision: np.ndarray
    recall: np.ndarray
    f1: np.ndarray

    def __repr__(self) -> str:
        shown = [[percent(None if np.isnan(x) else x) for x in row] for row in zip(*self, strict=True)]
        lines = [f"{i:5}  {p:>9}  {r:>6}  {f:>5}" for i, (p, r, f) in enumerate(shown)]
        return "\n".join(["class  precision  recall     F1", *lines])


class Reliability(NamedTuple):
    """A row for each bin of confidence: how many images, their accuracy and mean confidence (NaN of none)."""

    images: np.ndarray
    accuracy: np.ndarray
    confidence: np.ndarray


def top_k_accuracy(probabilities: np.ndarray, labels: np.ndarray, k: int) -> float:
    """The share of images (n,) whose label is among the k likeliest of the classes (n, C).

    Of equally likely classes the first is taken first, as argmax does. An answer that is NaN is wrong.
    """
    own = probabilities[np.arange(len(labels)), labels][:, None]
    earlier = np.arange(probabilities.shape[1]) < labels[:, None]
    rank = (~(probabilities <= own) | ((probabilities == own) & earlier)).sum(axis=1)
    return float((rank < k).mean())


def confusion_counts(labels: np.ndarray, said: np.ndarray, classes: int) -> np.ndarray:
    """The number of images of each class (row) for which the model predicts each class (column): (C, C) int.

    labels and said (n,) are class indices from 0 to classes - 1.
    """
    pairs = (labels * classes + said).astype(np.intp, copy=False)  # bincount takes no wider numbers
    return np.bincount(pairs, minlength=classes * classes).reshape(classes, classes)


def worst_mistakes(labels: np.ndarray, probabilities: np.ndarray, count: int) -> np.ndarray:
    """Indices of the images (at most count) that are misclassified with the highest probability.

    labels (n,) are class indices, probabilities (n, C); the worst mistake comes first.
    """
    wrong = np.flatnonzero(probabilities.argmax(axis=1) != labels)
    return wrong[np.argsort(-probabilities[wrong].max(axis=1), kind="stable")[:count]]


def by_class(counts: np.ndarray) -> ByClass:
    """Eq. 1 to 3 for counts (C, C) of images, by what they are (row) and what the model says (column)."""
    hits, images, said = counts.diagonal(), counts.sum(axis=1), counts.sum(axis=0)
    return ByClass(_share(hits, said), _share(hits, images), _share(2 * hits, images + said))


def macro_mean(counts: np.ndarray) -> dict[str, float]:
    """The mean precision, recall and F1 of the classes that have images.

    A class that the model never names has precision 0 here, which lowers the mean.
    """
    present = counts.sum(axis=1) > 0
    return {
        name: float(np.nan_to_num(values[present]).mean())
        for name, values in by_class(counts)._asdict().items()
    }


def reliability(probabilities: np.ndarray, labels: np.ndarray, bins: int = BINS) -> Reliability:
    """Accuracy by confidence, for probabilities (n, C) and labels (n,)."""
    confidence = probabilities.max(axis=1).astype(np.float64)
    right = probabilities.argmax(axis=1) == labels
    at = np.searchsorted(np.linspace(0, 1, bins + 1)[1:-1], confidence)  # (n,) from 0 to bins - 1
    images, hits, sums = (np.bincount(at, weights, bins) for weights in (None, right, confidence))
    return Reliability(images, _share(hits, images), _share(sums, images))


def calibration_error(table: Reliability) -> float:
    """The expected calibration error of a reliability table, eq. 4."""
    used = table.images > 0
    gaps = np.abs(table.accuracy - table.confidence)[used]
    return float(gaps @ table.images[used] / table.images.sum())


def wilson_interval(accuracy: float, images: int, level: float = 0.95) -> tuple[float, float]:
    """The ends of the score interval, eq. 5, for the accuracy on this many images."""
    z = NormalDist().inv_cdf((1 + level) / 2)
    middle = accuracy + z * z / (2 * images)
    half = z * (accuracy * (1 - accuracy) / images + (z / (2 * images)) ** 2) ** 0.5
    low, high = ((middle + side * half) / (1 + z * z / images) for side in (-1, 1))
    return max(low, 0.0), min(high, 1.0)


def with_interval(accuracy: float, images: int, digits: int = 1) -> str:
    """An accuracy in percent and, unless it comes from MANY images, where it may be: see eq. 5.

    Such as '71.2% (95% interval 69.2 to 73.1)'.
    """
    text = f"{100 * accuracy:.{digits}f}%"
    if images >= MANY:
        return text
    low, high = (f"{100 * end:.{digits}f}" for end in wilson_interval(accuracy, images))
    return f"{text} (95% interval {low} to {high})"


def _share(part: np.ndarray, whole: np.ndarray) -> np.ndarray:
    """part / whole, NaN where whole is 0."""
    return np.divide(part, whole, out=np.full(len(whole), np.nan), where=whole > 0)


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
        """Precision, recall and F1 of each class."""
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
    """Loss and accuracy of a model on the corrupted patches of a set of images.

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
    assert accuracy is not None, "sorting by accuracy needs an accuracy"
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
        masked_patches.blind_loss(config, settings.target),
    )
