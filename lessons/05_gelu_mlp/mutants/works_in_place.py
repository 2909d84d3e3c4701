"""The gate is multiplied into x itself."""

from tinyvit.ops import gelu as right
from tinyvit.ops import gelu_backward, mlp, mlp_backward

__all__ = ["gelu", "gelu_backward", "mlp", "mlp_backward"]


def gelu(x, form="tanh"):
    y, (_, gate, _) = right(x, form)
    cache = (x.copy(), gate, form)
    x[...] = y
    return x, cache
