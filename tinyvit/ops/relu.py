"""The rectified linear unit, forward and backward.

y = x where x > 0, and 0 elsewhere                                                     (1)
dx = dy where x > 0, and 0 elsewhere                                                   (2)

At 0 itself, where there is no derivative, the gradient is taken to be 0. GELU is a smooth version of this.
"""

from tinyvit.backend import Array, array_module


def relu(x: Array) -> tuple[Array, Array]:
    """The positive part of x, elementwise; returns y, with x's shape and dtype, and the cache."""
    return array_module(x).maximum(x, 0), x > 0  #                                           eq. 1


def relu_backward(dy: Array, cache: Array) -> Array:
    """Gradient of relu: dx, with the shape of x."""
    positive = cache
    return dy * positive  #                                                                  eq. 2
