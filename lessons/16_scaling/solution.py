"""Tools to compare models: their cost, the differences that chance makes, and a straight line."""

import math
from importlib import import_module

import numpy as np

LIMITS = import_module("lessons.13_train_cifar10.limits").LIMITS


def multiply_adds_of_vit(image_side, patch_size, width, mlp_width, layers, classes):
    """Rows times inputs times outputs, for every product."""
    patches = (image_side // patch_size) ** 2
    N = patches + 1
    embedding = patches * (3 * patch_size**2) * width
    block = N * (4 * width**2 + 2 * width * mlp_width) + 2 * N**2 * width  #           eq. 1
    return embedding + layers * block + width * classes


def is_difference(first, second):
    """Student's t test, with one variance for both."""
    first, second = np.asarray(first, float), np.asarray(second, float)
    freedom = len(first) + len(second) - 2
    if freedom == 0:
        return False
    centred = np.concatenate([first - first.mean(), second - second.mean()])
    variance = (centred @ centred) / freedom  #                                        eq. 2
    error = math.sqrt(variance * (1 / len(first) + 1 / len(second)))  #                eq. 3
    return bool(abs(first.mean() - second.mean()) > LIMITS[min(freedom, 30)] * error)


def fit_power_law(compute, error):
    """A straight line through the logarithms."""
    x, y = np.log(np.asarray(compute, float)), np.log(np.asarray(error, float))
    centred = x - x.mean()
    b = -(centred @ y) / (centred @ centred)  #                                        eq. 7
    return float(np.exp(y.mean() + b * x.mean())), float(b)  #                         eq. 6


def crossing(sizes, first, second):
    """Between the last size at which the second is not ahead and the next."""
    lead = [ahead - behind for behind, ahead in zip(first, second, strict=True)]
    behind = [i for i, value in enumerate(lead) if value <= 0]
    if not behind or behind[-1] == len(lead) - 1:
        return None
    i = behind[-1]
    share = lead[i] / (lead[i] - lead[i + 1])
    return float(sizes[i] * (sizes[i + 1] / sizes[i]) ** share)


def trust_comparison(decide):
    """Count alarms without a difference, and differences of thirty spreads that are found, up and down."""
    rng = np.random.default_rng(0)
    for n, m in ((2, 2), (3, 3), (2, 9), (9, 2), (6, 6)):
        for mean, spread in ((0.6, 0.004), (-3.0, 2.0)):
            draws = rng.normal(mean, spread, (600, n + m))
            if sum(decide(list(row[:n]), list(row[n:])) for row in draws) > 0.078 * 600:
                return False
            for difference in (30 * spread, -30 * spread):
                found = [decide(list(row[:n] + difference), list(row[n:])) for row in draws[:30]]
                if sum(found) < 20:
                    return False
    return True


def best_split(budget, model, images):
    """A thousandth more of n is a thousandth less of d: at the best split, the error does not change.

    alpha A n^-alpha = beta B d^-beta, with n d = budget / 3.
    """
    (A, alpha), (B, beta) = model, images
    pairs = budget / 3
    n = (alpha * A / (beta * B) * pairs**beta) ** (1 / (alpha + beta))
    return n, pairs / n
