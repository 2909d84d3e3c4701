"""A few-shot probe as the head of its model, so that the model predicts like any other.

A probe is linear, so it folds into the weights of a head. With v its weights for the features f, and w that
of the constant (see few_shot, eq. 1):

    scores = ((f - mean) / std) v + 100 w  =  f (v / std) + (100 w - mean (v / std))                       (1)

These scores are regressions on +1 and -1. As logits, they would leave every answer little surer than a guess,
and so they are multiplied by one number s, which changes no answer: that of the greatest likelihood on images
that a probe has not seen. For this, the images are cut into folds, each with as many images of every class,
and those of a fold get their scores z from a probe of all other folds:

    s minimises - sum_i t_i log softmax(s z_i)         1 <= s <= 1000                                      (2)

As in Platt (1999), t is not quite one-hot, but (n + 1) / (n + 2) for the right one of the classes: if all n
images are right, that is how likely the next one is to be right (Laplace), and it keeps s finite. With one
image of a class there is nothing to hold out, and s is 1: the model is then nearly always too unsure.
"""

from collections.abc import Sequence
from dataclasses import replace
from typing import TypeVar

import numpy as np

from tinyvit.data.dataset import class_counts
from tinyvit.insight.few_shot import CONSTANT, fit_probe
from tinyvit.model import Model, layout
from tinyvit.model.later.biases import with_bias
from tinyvit.ops import softmax

FOLDS = 10  # at most; fewer if a class has fewer images

M = TypeVar("M", bound=Model)


def with_probe(model: M, features: np.ndarray, labels: np.ndarray, classes: Sequence[str]) -> M:
    """The model, on the CPU, whose head is the probe of its own features (n, D) and labels (n,).

    Photos will be fitted as those of data sets are, which is how the probe has seen them.
    """
    probe, s = fit_probe(features, labels, len(classes)), fitted_scale(features, labels, len(classes))
    weight = s * probe.weights[:-1] / probe.std[:, None]  # (D, C)                           eq. 1
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
    """The s of eq. 2 for features (n, D) and labels (n,) from 0 to classes - 1, by halving a range.

    The slope of (2) rises with s.
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
