"""Weight standardisation (Qiao et al. 2019), forward and backward: for the kernels of hybrids and ResNets.

Before a convolution uses its kernel w (k, k, I, O), the m = k k I weights of each output channel are shifted
to mean 0 and divided by their standard deviation:

    c = w - mean(w)            s = sqrt(mean(c^2))            for each output channel      (1)
    y = c / (s + eps)                                                                      (2)

As in the official code, eps is added to the standard deviation; in a LayerNorm it is added to the variance.
timm does it in this second way, which `in_root` asks for:

    y = c / sqrt(s^2 + eps)                                                                (3)

Backward. Let r be the factor of c in (2) or (3). A weight w_i moves every y_j of its channel along three
paths:

    directly, when i = j:      r                                                           (4)
    through the mean:         -r / m                                                       (5)
    through s:                -r q y_i y_j / m          since ds/dw_i = c_i / (m s)        (6)

where q = (s + eps) / s for (2), and q = 1 for (3). Summing dy_j dy_j/dw_i over j:

    dw = r (dy - mean(dy) - q y mean(dy y))                                                (7)

If all weights of a channel are equal, s = 0 and so is y: a kernel of one number is always such.
The scale of w does not matter to y, so it cannot grow or shrink what passes through the convolution.
"""

from __future__ import annotations

from tinyvit.backend import Array, array_module


def weight_standardisation(w: Array, eps: float = 1e-5, in_root: bool = False) -> tuple[Array, tuple]:
    """Standardise a kernel w (k, k, I, O) over its first three axes; returns y (k, k, I, O) and the cache.

    eps is added to the standard deviation or, with in_root, to the variance.
    """
    xp = array_module(w)
    c = w - w.mean(axis=(0, 1, 2))
    variance = (c * c).mean(axis=(0, 1, 2))  # (O,)
    s = xp.sqrt(variance)  #                                                                 eq. 1
    if in_root:
        r, q = 1 / xp.sqrt(variance + eps), xp.ones_like(s)  #                               eq. 3
    else:
        r, q = 1 / (s + eps), (s + eps) / (s + (s == 0))  # where s is 0, q does not matter  eq. 2
    y = c * r  # (k, k, I, O)
    return y, (y, r, q)


def weight_standardisation_backward(dy: Array, cache: tuple) -> Array:
    """Gradient of weight_standardisation: dw (k, k, I, O)."""
    y, r, q = cache
    axes = (0, 1, 2)
    dw = dy - dy.mean(axis=axes)
    dw -= y * (q * (dy * y).mean(axis=axes))
    dw *= r  #                                                                               eq. 7
    return dw
