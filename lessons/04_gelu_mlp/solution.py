"""The library's own GELU and MLP are the model answer; the rest is written out here."""

import numpy as np

from tinyvit.ops import gelu, gelu_backward, mlp, mlp_backward

__all__ = ["gelu", "gelu_backward", "guilty_gelu", "mlp", "mlp_backward", "swiglu_backward"]


def guilty_gelu():
    """Emil recovers the share as y / x, and has to invent it where x is 0: there it is one half, not 0."""
    return "emil", (np.array([0.0, 1.0]),)


def swiglu_backward(dy, x, weight_a, weight_b, weight_out):
    """x goes into a and b; a is a factor twice, by itself and in the gate. What comes back is added."""
    a, b = x @ weight_a, x @ weight_b
    gate = 1 / (1 + np.exp(-a))
    rows = tuple(range(dy.ndim - 1))
    dhidden = dy @ weight_out.T  # (..., M)
    dout = np.tensordot(a * gate * b, dy, (rows, rows))
    da = dhidden * b * (gate + a * gate * (1 - gate))
    db = dhidden * a * gate
    dx = da @ weight_a.T + db @ weight_b.T
    return dx, np.tensordot(x, da, (rows, rows)), np.tensordot(x, db, (rows, rows)), dout
