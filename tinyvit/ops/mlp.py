"""The two-layer MLP of a Transformer block (ViT eq. 3), forward and backward.

    h = x W1 + b1                                        (..., M)                          (1)
    g = GELU(h)                                          (..., M)                          (2)
    y = g W2 + b2                                        (..., D)                          (3)

Backward: the three backward passes already derived, in reverse order.

    dg = dy W2^T         dW2 = g^T dy         db2 = column sums of dy                      (4)
    dh = dg * GELU'(h)                                                                     (5)
    dx = dh W1^T         dW1 = x^T dh         db1 = column sums of dh                      (6)

Later models have a gate in the place of (2) and (5), so that W1 is (D, 2M): see ops.gate. In a few, g is
normalised before (3).
"""

from tinyvit.backend import Array
from tinyvit.ops.dropout import dropout, dropout_backward
from tinyvit.ops.gate import gate, gate_backward
from tinyvit.ops.gelu import gelu, gelu_backward
from tinyvit.ops.layer_norm import layer_norm, layer_norm_backward
from tinyvit.ops.linear import linear, linear_backward
from tinyvit.ops.noise import Noise


def mlp(
    x: Array,
    weight1: Array,
    bias1: Array,
    weight2: Array,
    bias2: Array,
    gelu_form: str = "tanh",
    dropout_rate: float = 0.0,
    noise: Noise | None = None,
    norm: tuple[Array, ...] = (),
    eps: float = 1e-6,
    gated: bool = False,
) -> tuple[Array, tuple]:
    """Widen each token, apply GELU, and narrow it again, independently of the other tokens.

    x (..., D), weight1 (D, M), bias1 (M,), weight2 (M, D), bias2 (D,); dropout, if any, acts after the GELU.
    norm is the gain and bias (M,) of a LayerNorm after that, if there is one, and eps its epsilon. If gated,
    weight1 is (D, 2M) and bias1 (2M,), and their first halves belong to the gate. Returns y (..., D) and the
    cache.
    """
    h, cache1 = linear(x, weight1, bias1)  # (..., M)                                        eq. 1
    g, gelu_cache = (gate if gated else gelu)(h, gelu_form)  # (..., M)                      eq. 2
    g, dropout_cache = dropout(g, dropout_rate, noise)
    g, norm_cache = layer_norm(g, *norm, eps) if norm else (g, None)
    y, cache2 = linear(g, weight2, bias2)  # (..., D)                                        eq. 3
    more = (gated, norm_cache) if gated or norm else ()
    return y, (cache1, gelu_cache, dropout_cache, cache2, *more)


def mlp_backward(dy: Array, cache: tuple) -> tuple[Array, ...]:
    """Gradients of mlp: dx (..., D), dweight1, dbias1, dweight2, dbias2; and those of the norm."""
    cache1, gelu_cache, dropout_cache, cache2, *more = cache
    gated, norm_cache = more or (False, None)
    dg, dweight2, dbias2 = linear_backward(dy, cache2)  # (..., M)                           eq. 4
    dg, *dnorm = layer_norm_backward(dg, norm_cache) if norm_cache else (dg,)
    dg = dropout_backward(dg, dropout_cache)
    dh = (gate_backward if gated else gelu_backward)(dg, gelu_cache)  # (..., M)             eq. 5
    dx, dweight1, dbias1 = linear_backward(dh, cache1)  # (..., D)                           eq. 6
    return dx, dweight1, dbias1, dweight2, dbias2, *dnorm
