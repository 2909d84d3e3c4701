"""LayerScale (Touvron et al. 2021, *Going deeper with Image Transformers*), forward and backward.

Each feature of what a branch adds to the tokens has a gain of its own, small at first, so that a deep model
starts close to the identity:

    y = g * x                                            (..., D)                          (1)

Backward: dx = g * dy, and dg is the sum of x * dy over all tokens.                        (2)
"""

from tinyvit.backend import Array


def layer_scale(x: Array, gain: Array) -> tuple[Array, tuple]:
    """x (..., D) times gain (D,), and the cache."""
    return x * gain, (x, gain)  #                                                            eq. 1


def layer_scale_backward(dy: Array, cache: tuple) -> tuple[Array, Array]:
    """Gradients of layer_scale: dx (..., D), dgain (D,)."""
    x, gain = cache
    return dy * gain, (x * dy).reshape(-1, len(gain)).sum(axis=0)  #                         eq. 2
