"""The gate of later MLPs (Shazeer 2020, *GLU Variants Improve Transformer*), forward and backward.

An MLP that has one widens each token twice, to [a, u], and lets one half decide how much of the other passes:

    h = act(a) * u                                       (..., M)                          (1)

With SiLU as act, this is SwiGLU. Backward, by the product rule:

    da = dh * u * act'(a)         du = dh * act(a)                                         (2)
"""

from tinyvit.backend import Array, array_module
from tinyvit.ops.gelu import gelu, gelu_backward


def gate(both: Array, form: str = "silu") -> tuple[Array, tuple]:
    """h (..., M) of both = [a, u] (..., 2M), for act one of ops.GELU_FORMS; and the cache."""
    M = both.shape[-1] // 2
    a, u = both[..., :M], both[..., M:]
    passed, cache = gelu(a, form)
    return passed * u, (passed, u, cache)  #                                                 eq. 1


def gate_backward(dh: Array, cache: tuple) -> Array:
    """Gradient of gate: dboth (..., 2M)."""
    passed, u, gelu_cache = cache
    return array_module(dh).concatenate([gelu_backward(dh * u, gelu_cache), dh * passed], axis=-1)  #  eq. 2
