"""The hyperbolic tangent, forward and backward, for the optional pre_logits layer.

y = tanh(x)                                                                            (1)
dx = dy (1 - y^2)                                                                      (2)
"""

from tinyvit.backend import Array, array_module


def tanh(x: Array) -> tuple[Array, Array]:
    """tanh of x, elementwise; returns y, with x's shape and dtype, and the cache."""
    y = array_module(x).tanh(x)  #                                                           eq. 1
    return y, y


def tanh_backward(dy: Array, cache: Array) -> Array:
    """Gradient of tanh: dx, with the shape of x."""
    y = cache
    return dy * (1 - y * y)  #                                                               eq. 2
