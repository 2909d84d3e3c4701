"""Weight standardisation (Qiao et al. 2019), forward and backward: for the kernels of hybrids and ResNets.

Before a convolution uses its kernel w (k, k, I, O), the m = k k I weights of each output channel are shifted
to mean 0 and divided by their standard deviation:

    c = w - mean(w)            s = sqrt(mean(c^2))            for each output channel      (1)
    y = c / (s + eps)                                                                      (2)

As in the official code, eps is added to the standard deviation; in a LayerNorm it is added to the variance.

Backward. A weight w_i moves every y_j of its channel along three paths:

    directly, when i = j:      1 / (s + eps)                                               (3)
    through the mean:         -1 / (m (s + eps))                                           (4)
    through s:                -c_i c_j / (m s (s + eps)^2)        since ds/dw_i = c_i / (m s)  (5)

and summing dy_j dy_j/dw_i over j:

    dw = (dy - mean(dy) - u mean(dy y)) / (s + eps)            u = c / s                   (6)

If all weights of a channel are equal, s = 0 and u is taken to be 0: a kernel of one number is always such.

timm adds eps to the variance, which `in_root` asks for. Then r = 1 / sqrt(s^2 + eps) takes the place of
1 / (s + eps) in (2) and (6), and u = y, as in a LayerNorm.

The scale of w does not matter to y, so it cannot grow or shrink what passes through the convolution.
"""

from tinyvit.backend import Array, array_module


def weight_standardisation(w: Array, eps: float = 1e-5, in_root: bool = False) -> tuple[Array, tuple]:
    """Standardise a kernel w (k, k, I, O) over its first three axes; returns y (k, k, I, O) and the cache.

    eps is added to the standard deviation or, with in_root, to the variance.
    """
    xp = array_module(w)
    c = w - w.mean(axis=(0, 1, 2))
    variance = (c * c).mean(axis=(0, 1, 2))  # (O,)
    s = xp.sqrt(variance)  #                                                                 eq. 1
    r = 1 / (xp.sqrt(variance + eps) if in_root else s + eps)  # (O,)
    y = c * r  # (k, k, I, O)                                                                eq. 2
    u_over_y = xp.ones_like(s) if in_root else (s + eps) / (s + (s == 0))  # where s is 0, so is y
    return y, (y, r, u_over_y)


def weight_standardisation_backward(dy: Array, cache: tuple) -> Array:
    """Gradient of weight_standardisation: dw (k, k, I, O)."""
    y, r, u_over_y = cache
    axes = (0, 1, 2)
    dw = dy - dy.mean(axis=axes)
    dw -= y * (u_over_y * (dy * y).mean(axis=axes))
    dw *= r  #                                                                               eq. 6
    return dw
