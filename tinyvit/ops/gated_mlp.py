"""The gated MLP (Shazeer 2020, *GLU Variants Improve Transformer*), forward and backward.

    [a, u] = x W1 + b1                                   (..., 2M)                         (1)
    h = act(a) * u                                       (..., M)                          (2)
    y = h W2 + b2                                        (..., D)                          (3)

Half of the widened token, a, decides how much of the other half, u, passes. With SiLU as act, this is SwiGLU.
In EVA-02, h is normalised before (3).

Backward, by the product rule:

    da = dh * u * act'(a)         du = dh * act(a)                                         (4)

and the other lines as in ops.mlp.
"""

from tinyvit.backend import Array, array_module
from tinyvit.ops.dropout import dropout, dropout_backward
from tinyvit.ops.gelu import gelu, gelu_backward
from tinyvit.ops.layer_norm import layer_norm, layer_norm_backward
from tinyvit.ops.linear import linear, linear_backward
from tinyvit.ops.noise import Noise


def gated_mlp(
    x: Array,
    weight1: Array,
    bias1: Array,
    weight2: Array,
    bias2: Array,
    form: str = "silu",
    dropout_rate: float = 0.0,
    noise: Noise | None = None,
    norm: tuple[Array, ...] = (),
    eps: float = 1e-6,
) -> tuple[Array, tuple]:
    """Widen each token twice, multiply one half by the gate of the other, and narrow the product again.

    x (..., D), weight1 (D, 2M), whose columns are those of the gate, then the others; bias1 (2M,), weight2
    (M, D), bias2 (D,); form is one of ops.GELU_FORMS, and dropout acts on the product. norm is the gain and
    bias (M,) of a LayerNorm of the product, if there is one, and eps its epsilon. Returns y (..., D) and the
    cache.
    """
    both, cache1 = linear(x, weight1, bias1)  # (..., 2M)                                    eq. 1
    h, product_cache = gated(both, form)  # (..., M)                                         eq. 2
    h, dropout_cache = dropout(h, dropout_rate, noise)
    h, *norm_cache = layer_norm(h, *norm, eps) if norm else (h,)
    y, cache2 = linear(h, weight2, bias2)  # (..., D)                                        eq. 3
    return y, (cache1, product_cache, dropout_cache, cache2, *norm_cache)


def gated_mlp_backward(dy: Array, cache: tuple) -> tuple[Array, ...]:
    """Gradients of gated_mlp: dx (..., D), dweight1, dbias1, dweight2, dbias2; and those of the norm."""
    cache1, product_cache, dropout_cache, cache2, *norm_cache = cache
    dh, dweight2, dbias2 = linear_backward(dy, cache2)  # (..., M)
    dh, *dnorm = layer_norm_backward(dh, *norm_cache) if norm_cache else (dh,)
    dh = dropout_backward(dh, dropout_cache)
    dx, dweight1, dbias1 = linear_backward(gated_backward(dh, product_cache), cache1)  # (..., D)
    return dx, dweight1, dbias1, dweight2, dbias2, *dnorm


def gated(both: Array, form: str = "silu") -> tuple[Array, tuple]:
    """act(a) * u of both = [a, u] (..., 2M): h (..., M), and the cache."""
    M = both.shape[-1] // 2
    a, u = both[..., :M], both[..., M:]
    gate, cache = gelu(a, form)
    return gate * u, (gate, u, cache)  #                                                     eq. 2


def gated_backward(dh: Array, cache: tuple) -> Array:
    """Gradient of gated: dboth (..., 2M)."""
    gate, u, gelu_cache = cache
    return array_module(dh).concatenate([gelu_backward(dh * u, gelu_cache), dh * gate], axis=-1)  #  eq. 4
