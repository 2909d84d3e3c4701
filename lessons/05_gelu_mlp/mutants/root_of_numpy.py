"""np.sqrt(2 / np.pi) is a float64 number, and makes a float32 array float64."""

import numpy as np

from tinyvit.ops import gelu as right
from tinyvit.ops import gelu_backward, mlp, mlp_backward

__all__ = ["gelu", "gelu_backward", "mlp", "mlp_backward"]


def gelu(x, form="tanh"):
    if form == "exact":
        return right(x, form)
    gate = (1 + np.tanh(np.sqrt(2 / np.pi) * (x + 0.044715 * x**3))) / 2
    return x * gate, (x, gate, form)
