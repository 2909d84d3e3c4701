"""The parts of a recipe that are worth writing oneself, and the means to tell what they are worth."""

import math
from importlib import import_module

import numpy as np

from tinyvit.ops import cross_entropy, cross_entropy_backward

LIMITS = import_module("lessons.13_train_cifar10.limits").LIMITS


def orthogonalise(g, steps=5):
    """Products with the smaller of g g^T and g^T g."""
    is_tall = g.shape[0] > g.shape[1]
    x = g.T if is_tall else g
    x = x / max(float(np.linalg.norm(x)), 1e-7)
    for _ in range(steps):
        gram = x @ x.T
        x = 3.4445 * x + (-4.7750 * gram + 2.0315 * (gram @ gram)) @ x  #     eq. 2
    return x.T if is_tall else x


def average_step(average, weights, decay, step):
    """At first the average is short, whatever the decay."""
    now = min(decay, (1 + step) / (10 + step))  #                             eq. 3
    return now * average + (1 - now) * weights  #                             eq. 4


def mixed_cross_entropy(logits, labels, shares):
    """The loss is linear in the target, so the target is mixed, and not the loss."""
    own = np.eye(logits.shape[1])[labels]  # (B, C)
    after = np.roll(own, -1, axis=0)
    targets = own + np.asarray(shares)[:, None] * (after - own)  #            eq. 5
    loss, cache = cross_entropy(logits, targets)
    return loss, cross_entropy_backward(cache)


def real_gains(accuracies, base):
    """Student's t, with one spread for all."""
    lists = {name: np.asarray(values, float) for name, values in accuracies.items()}
    freedom = sum(len(values) - 1 for values in lists.values())
    if freedom == 0:
        return []
    squares = sum(((values - values.mean()) ** 2).sum() for values in lists.values())
    spread = math.sqrt(squares / freedom)  #                                  eq. 7
    mine, found = lists[base], []
    for name, values in lists.items():
        error = spread * math.sqrt(1 / len(values) + 1 / len(mine))  #        eq. 8
        if name != base and abs(values.mean() - mine.mean()) > LIMITS[min(freedom, 30)] * error:
            found.append(name)
    return found


def trust_orthogonalise(orthogonalise):
    """Matrices made of known parts: wide, tall and square, large and small, with values far apart."""
    rng = np.random.default_rng(0)
    for shape in ((4, 4), (3, 8), (8, 3), (1, 5), (6, 6)):
        for size in (1e-3, 1.0, 1e3):
            rank = min(shape)
            left, right = (np.linalg.qr(rng.normal(size=(n, rank)))[0] for n in shape)
            given = size * (left * np.geomspace(1, 0.01, rank)) @ right.T
            kept = given.copy()
            x = orthogonalise(given)
            if x.shape != shape or not np.array_equal(given, kept):
                return False
            inside = left.T @ x @ right  # diagonal, if the vectors are as they were
            values = np.diag(inside)
            if not np.allclose(inside, np.diag(values), atol=1e-6):
                return False
            if not np.allclose(left @ inside @ right.T, x, atol=1e-6):
                return False
            if not (values.min() > 0.6 and values.max() < 1.3):
                return False
    return True


def nearest_factors(product, rank):
    """The largest singular values, the root of each for either side."""
    U, S, Vt = np.linalg.svd(product, full_matrices=False)
    root = np.sqrt(S[:rank])
    return U[:, :rank] * root, Vt[:rank].T * root
