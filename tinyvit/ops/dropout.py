"""Dropout (Srivastava et al. 2014), forward and backward.

In training, each number is kept with probability 1 - rate, and the numbers kept are scaled up so that the
expected value does not change. In inference nothing is dropped.

    y = x * m         m = 1 / (1 - rate) where kept, 0 where dropped                       (1)
    dx = dy * m                                                                            (2)
"""

from tinyvit.backend import Array, array_module
from tinyvit.ops.noise import Noise


def dropout(x: Array, rate: float, noise: Noise | None) -> tuple[Array, Array | None]:
    """Drop numbers of x at random, with probability rate in [0, 1).

    Without noise (in inference) or at rate 0, x is returned unchanged. Returns y, with the shape and dtype of
    x, and the cache.
    """
    if noise is None or rate == 0:
        return x, None
    keep = noise.uniform(x.shape, array_module(x)) >= rate
    mask = keep.astype(x.dtype) * (1 / (1 - rate))
    return x * mask, mask  #                                                                 eq. 1


def dropout_backward(dy: Array, cache: Array | None) -> Array:
    """Gradient of dropout: dx, with the shape of x."""
    return dy if cache is None else dy * cache  #                                            eq. 2
