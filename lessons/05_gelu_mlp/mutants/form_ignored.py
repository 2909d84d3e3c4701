"""The form is ignored: it is always the tanh form."""

from tinyvit.ops import gelu as right
from tinyvit.ops import gelu_backward, mlp, mlp_backward

__all__ = ["gelu", "gelu_backward", "mlp", "mlp_backward"]


def gelu(x, form="tanh"):
    return right(x, "tanh")
