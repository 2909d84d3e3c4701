"""The gate is treated as a constant: dy times the gate."""

from tinyvit.ops import gelu, mlp, mlp_backward

__all__ = ["gelu", "gelu_backward", "mlp", "mlp_backward"]


def gelu_backward(dy, cache):
    _, gate, _ = cache
    return dy * gate
