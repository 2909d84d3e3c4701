"""The forward is the library's; the backward goes path by path, where the library adds the paths up."""

import numpy as np

from tinyvit.gradcheck import check_gradients
from tinyvit.ops import layer_norm

__all__ = ["layer_norm", "layer_norm_backward", "rms_norm_backward", "trust_layer_norm"]


def layer_norm_backward(dy, cache):
    """The three gradients, each path from x to n by itself."""
    n, r, weight = cache  # (..., D), (..., 1), (D,)
    g = dy * weight  # (..., D)  the gradient that reaches n
    direct = g * r  # eq. 3
    through_mean = -(g * r).mean(axis=-1, keepdims=True)  # eq. 4: the mean was subtracted from every entry
    through_r = -r * n * (g * n).mean(axis=-1, keepdims=True)  # eq. 5
    rows = tuple(range(dy.ndim - 1))
    return direct + through_mean + through_r, (dy * n).sum(axis=rows), dy.sum(axis=rows)


def trust_layer_norm(forward, backward):
    """Check with two, three and four axes, odd gains, rows far from mean 0 and a large eps."""
    rng = np.random.default_rng(0)
    for shape in ((4, 5), (3, 2, 5), (2, 3, 2, 4)):
        x, weight, bias = rng.normal(3, 2, shape), rng.normal(1, 0.5, shape[-1]), rng.normal(size=shape[-1])
        errors = check_gradients(lambda *inputs: forward(*inputs, eps=0.5), backward, (x, weight, bias), rng)
        if not max(errors) < 1e-6:
            return False
    return True


def rms_norm_backward(dy, x, weight, first, eps=1e-6):
    """Directly, and through r, which depends on the first numbers of the row and on no others."""
    head = x[..., :first]  # (..., first)
    r = 1 / np.sqrt((head * head).mean(axis=-1, keepdims=True) + eps)  # (..., 1)
    g = dy * weight  # (..., D)
    dx = r * g
    dx[..., :first] -= head * r**3 * (g * x).sum(axis=-1, keepdims=True) / first
    return dx, (dy * x * r).sum(axis=tuple(range(dy.ndim - 1)))
