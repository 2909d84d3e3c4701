"""How good a model is on a set of images."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from tinyvit.data import ImageSet
from tinyvit.engine import ReferenceEngine, in_batches
from tinyvit.ops import cross_entropy, softmax


@dataclass(frozen=True)
class Evaluation:
    """Mean cross-entropy in nats, share of images right, and that share by class (NaN for an empty one)."""

    loss: float
    accuracy: float
    by_class: np.ndarray


def evaluate(engine: ReferenceEngine, images: ImageSet) -> Evaluation:
    """Loss and accuracy of an engine's model on a set of images, in batches."""
    logits = in_batches(engine.logits, engine.config, engine.params, images.images)
    right = logits.argmax(axis=1) == images.labels
    totals = np.bincount(images.labels, minlength=logits.shape[1])
    hits = np.bincount(images.labels[right], minlength=logits.shape[1])
    with np.errstate(invalid="ignore"):
        by_class = hits / totals
    loss, _ = cross_entropy(logits.astype(np.float64), images.labels)
    return Evaluation(float(loss), float(right.mean()), by_class)


def predict_probabilities(engine: ReferenceEngine, images: np.ndarray) -> np.ndarray:
    """Class probabilities (n, C) of uint8 images (n, H, W, 3), as a NumPy array."""
    return softmax(in_batches(engine.logits, engine.config, engine.params, images))[0]
