"""GELU and its slope together, on a few rows at a time.

The backward pass of y = GELU(h) needs the slope GELU'(h), which shares nearly everything with the value. Both
are computed in the forward pass, and the slope takes the place of h: the backward pass is then a single
product, dh = dy * slope, and h and the gate need not be kept.

Each pass over the numbers is cheap in itself. But the whole array does not fit in a core's cache, and reading
it from further out takes longer than the arithmetic. So all passes are made over a few rows before the next
few rows are touched.
"""

from __future__ import annotations

import math

import numpy as np

from tinyvit import ops
from tinyvit.engine.cpu.pieces import pieces

_LINEAR = math.sqrt(2 / math.pi)
_CUBIC = 0.044715 * _LINEAR


def gelu_and_slope(h: np.ndarray, form: str) -> tuple[np.ndarray, np.ndarray]:
    """GELU of h (R, M), form 'tanh' or 'exact', and its slope, both (R, M). h is overwritten."""
    g = np.empty_like(h)
    in_place = _IN_PLACE[form]
    for rows in pieces(*h.shape):
        in_place(h[rows], g[rows])
    return g, h


def gelu_backward_in_place(dg: np.ndarray, slope: np.ndarray, sums: np.ndarray) -> None:
    """dg (R, M) times the slope, in place; the column sums of the result are added to sums (M,)."""
    ones = np.ones(len(dg), dtype=dg.dtype)
    for rows in pieces(*dg.shape):
        piece = dg[rows]
        piece *= slope[rows]
        sums += ones[rows] @ piece


def gelu_alone(h: np.ndarray, form: str) -> np.ndarray:
    """GELU of h (R, M), for inference. h is overwritten, and returned."""
    gate = _GATES[form]
    for rows in pieces(*h.shape):
        piece = h[rows]
        piece *= gate(piece)
    return h


def _tanh_in_place(x: np.ndarray, g: np.ndarray) -> None:
    """x becomes the slope, and g the value: with s = (1 + tanh u) / 2 and u = (a + b x^2) x,

    g = x s           slope = s + 2 g (1 - s) du/dx           du/dx = a + 3 b x^2
    """
    square = x * x
    s = _tanh_gate(x, square)
    np.multiply(x, s, out=g)
    square *= 6 * _CUBIC
    square += 2 * _LINEAR  # 2 du/dx
    np.subtract(1, s, out=x)
    x *= square
    x *= g
    x += s


def _tanh_gate(x: np.ndarray, square: np.ndarray) -> np.ndarray:
    """s = (1 + tanh u) / 2."""
    s = square * _CUBIC
    s += _LINEAR
    s *= x
    np.tanh(s, out=s)
    s *= 0.5
    s += 0.5
    return s


def _exact_in_place(x: np.ndarray, g: np.ndarray) -> None:
    """x becomes the slope, and g the value: g = x Phi(x), slope = Phi(x) + x phi(x)."""
    gate = _exact_gate(x)
    np.multiply(x, gate, out=g)
    density = x * x
    density *= -0.5
    np.exp(density, out=density)
    density *= 1 / math.sqrt(2 * math.pi)
    x *= density
    x += gate


def _exact_gate(x: np.ndarray) -> np.ndarray:
    return (1 + ops.erf(x * math.sqrt(0.5))) * 0.5


_IN_PLACE = {"tanh": _tanh_in_place, "exact": _exact_in_place}
_GATES = {"tanh": lambda x: _tanh_gate(x, x * x), "exact": _exact_gate}
