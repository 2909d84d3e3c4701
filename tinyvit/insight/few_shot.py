"""Few-shot probe: how well a linear map on frozen features, learned from a few images per class, classifies.

This is the probe of the official code (big_vision; ViT section 4.1 and Figure 4). Features are standardised
with the mean and standard deviation of the training images, and a constant last column is appended, so large
that the penalty hardly affects it. Targets are 1 for the correct class and -1 for all others:

    X = [(features - mean) / (std + 1e-5), 100]           (n, F)                           (1)
    Y = +1 or -1                                          (n, C)                           (2)
    W minimises |X W - Y|^2 + r |W|^2        r = 2^10                                      (3)

Setting the gradient of (3) to zero gives W in closed form, in two ways that are equal because
X^T (X X^T + r I) = (X^T X + r I) X^T:

    W = (X^T X + r I)^-1 X^T Y                            an F x F system                  (4)
    W = X^T (X X^T + r I)^-1 Y                            an n x n system                  (5)

The smaller of the two systems is solved.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TypeVar

import numpy as np

from tinyvit.data.dataset import class_counts
from tinyvit.model import Model, layout
from tinyvit.model.later.biases import with_bias
from tinyvit.ops import softmax
from tinyvit.support.errors import UserError

CONSTANT = 100.0  # the value of the column that represents the offset
RIDGE = 2.0**10


@dataclass(frozen=True)
class Probe:
    """A linear classifier on features: mean and std + 1e-5 (F - 1,) of eq. 1, weights (F, C)."""

    mean: np.ndarray
    std: np.ndarray
    weights: np.ndarray

    def scores(self, features: np.ndarray) -> np.ndarray:
        """Scores (n, C) of features (n, F - 1), the largest for the class they resemble most.

        With few images the penalty holds all scores near the mean of Y, which is (2 - C) / C.
        """
        return _standardised(features, self.mean, self.std) @ self.weights

    def accuracy(self, features: np.ndarray, labels: np.ndarray) -> float:
        """The share of features (n, F - 1) with the largest score for their own label (n,)."""
        return float((self.scores(features).argmax(axis=1) == labels).mean())


def fit_probe(features: np.ndarray, labels: np.ndarray, classes: int, ridge: float = RIDGE) -> Probe:
    """The probe for features (n, F - 1), any dtype, and labels (n,) from 0 to classes - 1; in float64."""
    features = features.astype(np.float64)
    mean, std = features.mean(axis=0), features.std(axis=0) + 1e-5
    X = _standardised(features, mean, std)  # (n, F)                                         eq. 1
    Y = 2.0 * (labels[:, None] == np.arange(classes)) - 1  # (n, C)                          eq. 2
    return Probe(mean, std, ridge_weights(X, Y, ridge))


def ridge_weights(X: np.ndarray, Y: np.ndarray, ridge: float) -> np.ndarray:
    """The W (F, C) of eq. 3 for X (n, F) and Y (n, C)."""
    n, F = X.shape
    if n >= F:
        return np.linalg.solve(X.T @ X + ridge * np.eye(F, dtype=X.dtype), X.T @ Y)  #         eq. 4
    return X.T @ np.linalg.solve(X @ X.T + ridge * np.eye(n, dtype=X.dtype), Y)  #             eq. 5


def choose_shots(labels: np.ndarray, classes: Sequence[str], shots: int, seed: int) -> np.ndarray:
    """Indices of `shots` random images of every class (len(classes) * shots,), which depend on the seed.

    With the same seed, more shots include the images of fewer shots. Raises UserError if a class has fewer
    images.
    """
    rng = np.random.Generator(np.random.Philox(seed))
    chosen = []
    for label, name in enumerate(classes):
        members = rng.permutation(np.flatnonzero(labels == label))
        if len(members) < shots:
            raise UserError(
                f"{shots} shots need that many training images of each class, but {name} has {len(members)}: "
                "choose fewer --shots."
            )
        chosen.append(members[:shots])
    return np.concatenate(chosen)


def _standardised(features: np.ndarray, mean: np.ndarray, std: np.ndarray) -> np.ndarray:
    x = (features - mean) / std
    return np.concatenate([x, np.full((len(x), 1), CONSTANT)], axis=1)


FOLDS = 10  # at most; fewer if a class has fewer images

M = TypeVar("M", bound=Model)


def with_probe(model: M, features: np.ndarray, labels: np.ndarray, classes: Sequence[str]) -> M:
    """The model, on the CPU, whose head is the probe of its own features (n, D) and labels (n,).

    A probe is linear, so it folds into a head. With v its weights for the features f, and w that of the
    constant,

        scores = ((f - mean) / std) v + 100 w  =  f (v / std) + (100 w - mean (v / std))

    These are regressions on +1 and -1. As logits, they would leave every answer little surer than a guess,
    and so they are multiplied by fitted_scale, which changes no answer. Photos will be fitted as those of
    data sets are, which is how the probe has seen them.
    """
    probe, s = fit_probe(features, labels, len(classes)), fitted_scale(features, labels, len(classes))
    weight = s * probe.weights[:-1] / probe.std[:, None]  # (D, C)
    bias = s * CONSTANT * probe.weights[-1] - probe.mean @ weight  # (C,)
    config, params = model.config, model.params.to(np)
    if config.predicts_patches:  # whose features are the mean of its patches
        config = replace(config, pool="mean", class_token=config.has_token)
    if config.predicts == "embedding":  # whose features are the output of its head
        head, head_bias = with_bias(params, "head")
        weight, bias = head @ weight, bias + head_bias @ weight  # (D, C), (C,)
    config = replace(config, classes=len(classes), head_bias=True, predicts="image")
    params = params.copy_to(layout(config), exclude=("head.", "head2."))
    for head in ("head", "head2") if config.pool == "distilled" else ("head",):
        params[f"{head}.weight"], params[f"{head}.bias"] = weight, bias
    return replace(model, config=config, params=params, classes=tuple(classes), photo_fit=None, texts=None)


def fitted_scale(features: np.ndarray, labels: np.ndarray, classes: int) -> float:
    """The factor s of scores for features (n, D) and labels (n,) from 0 to classes - 1: the likeliest one.

    The images are cut into folds, each with as many images of every class, and those of a fold get their
    scores z from a probe of all other folds, which has not seen them:

        s minimises - sum_i t_i log softmax(s z_i)         1 <= s <= 1000

    As in Platt (1999), t is not quite one-hot, but (n + 1) / (n + 2) for the right one of the classes: if all
    n images are right, that is how likely the next one is to be right (Laplace), and it keeps s finite. The
    slope rises with s, which is found by halving a range. With one image of a class there is nothing to hold
    out, and s is 1: the model is then nearly always too unsure.
    """
    n, smallest = len(labels), class_counts(labels, classes).min()
    if smallest < 2:
        return 1.0
    fold, z = np.empty(n, int), np.empty((n, classes))
    for c in range(classes):
        fold[labels == c] = np.arange((labels == c).sum()) % min(smallest, FOLDS)
    for j in range(fold.max() + 1):
        out = fold == j
        z[out] = fit_probe(features[~out], labels[~out], classes).scores(features[out])
    t = np.full((n, classes), 1 / (n + 2) / (classes - 1))
    t[np.arange(n), labels] = (n + 1) / (n + 2)
    low, high = 1.0, 1000.0
    for _ in range(50):
        s = (low * high) ** 0.5
        too_low = ((softmax(s * z)[0] - t) * z).sum() < 0
        low, high = (s, high) if too_low else (low, s)
    return low
