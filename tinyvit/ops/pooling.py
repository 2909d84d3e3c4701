"""From the tokens of an image to the one vector that is classified (ViT eq. 4 and appendix D.3).

    class token:   y = x_0                                                                 (1)
    mean:          y = (x_1 + ... + x_T) / T                                               (2)

Backward: the gradient goes back to the tokens that were used, and to no others.

    class token:   dx_0 = dy,   dx_j = 0 for all other positions                           (3)
    mean:          dx_j = dy / T for all j                                                 (4)
"""

from __future__ import annotations

from tinyvit.backend import Array, array_module


def token_pool(x: Array) -> tuple[Array, tuple]:
    """The class token: x (B, N, D) to y (B, D), and the cache."""
    return x[:, 0], x.shape  #                                                               eq. 1


def token_pool_backward(dy: Array, cache: tuple) -> Array:
    """Gradient of token_pool: dx (B, N, D), zero except at the class token."""
    dx = array_module(dy).zeros(cache, dtype=dy.dtype)
    dx[:, 0] = dy  #                                                                         eq. 3
    return dx


def mean_pool(x: Array) -> tuple[Array, tuple]:
    """The mean of all tokens: x (B, T, D) to y (B, D), and the cache."""
    return x.mean(axis=1), x.shape  #                                                        eq. 2


def mean_pool_backward(dy: Array, cache: tuple) -> Array:
    """Gradient of mean_pool: dx (B, T, D)."""
    T = cache[1]
    return array_module(dy).broadcast_to((dy * (1 / T))[:, None], cache)  #                  eq. 4
