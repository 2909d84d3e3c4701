"""The two-layer MLP of a Transformer block (ViT eq. 3), forward and backward.

    h = x W1 + b1                                        (..., M)                          (1)
    g = GELU(h)                                          (..., M)                          (2)
    y = g W2 + b2                                        (..., D)                          (3)

Backward: the three backward passes already derived, in reverse order.

    dg = dy W2^T         dW2 = g^T dy         db2 = column sums of dy                      (4)
    dh = dg * GELU'(h)                                                                     (5)
    dx = dh W1^T         dW1 = x^T dh         db1 = column sums of dh                      (6)
"""

from tinyvit.backend import Array
from tinyvit.ops.gelu import gelu, gelu_backward
from tinyvit.ops.linear import linear, linear_backward


def mlp(
    x: Array, weight1: Array, bias1: Array, weight2: Array, bias2: Array, gelu_form: str = "tanh"
) -> tuple[Array, tuple]:
    """Widen each token, apply GELU, and narrow it again, independently of the other tokens.

    x (..., D), weight1 (D, M), bias1 (M,), weight2 (M, D), bias2 (D,). Returns y (..., D) and the cache.
    """
    h, cache1 = linear(x, weight1, bias1)  # (..., M)                                        eq. 1
    g, gelu_cache = gelu(h, gelu_form)  # (..., M)                                           eq. 2
    y, cache2 = linear(g, weight2, bias2)  # (..., D)                                        eq. 3
    return y, (cache1, gelu_cache, cache2)


def mlp_backward(dy: Array, cache: tuple) -> tuple[Array, ...]:
    """Gradients of mlp: dx (..., D), dweight1, dbias1, dweight2, dbias2."""
    cache1, gelu_cache, cache2 = cache
    dg, dweight2, dbias2 = linear_backward(dy, cache2)  # (..., M)                           eq. 4
    dh = gelu_backward(dg, gelu_cache)  # (..., M)                                           eq. 5
    dx, dweight1, dbias1 = linear_backward(dh, cache1)  # (..., D)                           eq. 6
    return dx, dweight1, dbias1, dweight2, dbias2
