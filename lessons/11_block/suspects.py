"""Three backwards of a small block, by Ada, Ben and Cleo. One of them is wrong on some inputs.

x' = x  + n(x) a        x (B, N, D), a and c (D, D)
y  = x' + n(x') c       n is LayerNorm with gain 1, offset 0
"""

import numpy as np


def normalised(x):
    """Every row of x shifted to mean 0 and scaled to variance 1, and the scale."""
    centred = x - x.mean(axis=-1, keepdims=True)
    scale = 1 / np.sqrt((centred * centred).mean(axis=-1, keepdims=True) + 1e-9)
    return centred * scale, scale


def through_norm(dn, n, scale):
    """The gradient of x from that of n."""
    return scale * (dn - dn.mean(axis=-1, keepdims=True) - n * (dn * n).mean(axis=-1, keepdims=True))


def product_gradient(n, dy):
    """The gradient of a matrix that every row of n was multiplied by."""
    return np.einsum("bni,bnj->ij", n, dy)


def ada(x, a, c):
    n1, scale1 = normalised(x)
    middle = x + n1 @ a
    n2, scale2 = normalised(middle)
    return middle + n2 @ c, (n1, scale1, n2, scale2, a, c)


def ada_backward(dy, cache):
    n1, scale1, n2, scale2, a, c = cache
    dmiddle = dy + through_norm(dy @ c.T, n2, scale2)
    dx = dmiddle + through_norm(dmiddle @ a.T, n1, scale1)
    return dx, product_gradient(n1, dmiddle), product_gradient(n2, dy)


def ben(x, a, c):
    n1, scale = normalised(x)
    added = n1 @ a
    n2, _ = normalised(x + added)
    return x + added + n2 @ c, (n1, scale, added, n2, a, c)


def ben_backward(dy, cache):
    n1, scale, added, n2, a, c = cache
    growth = scale * added.std(axis=-1, keepdims=True)  # of the stream by the first branch
    g = dy + through_norm(dy @ c.T, n2, scale / np.sqrt(1 + growth * growth))
    return g + through_norm(g @ a.T, n1, scale), product_gradient(n1, g), product_gradient(n2, dy)


def cleo(x, a, c):
    kept = []
    for matrix in (a, c):
        n, scale = normalised(x)
        kept.append((n, scale, matrix))
        x = x + n @ matrix
    return x, kept


def cleo_backward(dy, cache):
    gradients, dx = [], dy
    for n, scale, matrix in reversed(cache):
        gradients.insert(0, product_gradient(n, dx))
        dx = dx + through_norm(dx @ matrix.T, n, scale)
    return dx, *gradients


SUSPECTS = {"Ada": (ada, ada_backward), "Ben": (ben, ben_backward), "Cleo": (cleo, cleo_backward)}
