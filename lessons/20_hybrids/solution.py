"""The library's own functions are the model answers; the rest is written out here."""

import numpy as np

from tinyvit.checking import check_gradients
from tinyvit.model.resnet import unit_backward
from tinyvit.ops import group_norm_backward, weight_standardisation, weight_standardisation_backward

__all__ = ["group_norm_backward", "pixels_seen", "trust_group_norm", "unit_backward"]
__all__ += ["weight_standardisation", "weight_standardisation_backward"]


def trust_group_norm(forward, backward):
    """Three images that are not square, two groups of three channels, odd gains and a large eps."""
    rng = np.random.default_rng(0)
    x, weight, bias = rng.normal(3, 2, (3, 2, 4, 6)), rng.normal(1, 0.5, 6), rng.normal(size=6)
    errors = check_gradients(
        lambda *inputs: forward(*inputs, groups=2, eps=0.5), backward, (x, weight, bias), rng
    )
    return max(errors) < 1e-6


def pixels_seen(resnet):
    """Each k x k window reaches k - 1 steps further, and a step is as wide as all strides before it."""
    side, step = 1, 1
    for k, stride in _windows(resnet):
        side += (k - 1) * step
        step *= stride
    return side


def _windows(resnet):
    """The window and the stride of the root, the pool, and the 3 x 3 convolution of each unit."""
    yield from ((7, 2), (3, 2))
    for i, units in enumerate(resnet):
        for j in range(units):
            yield 3, 2 if i and j == 0 else 1
