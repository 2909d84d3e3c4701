"""GELU and its slope together, on a few rows at a time.

The backward pass of y = GELU(h) needs the slope GELU'(h), which shares nearly everything with the value. Both
are computed in the forward pass, and the slope takes the place of h: the backward pass is then a single
product, dh = dy * slope, and h and the gate need not be kept.

Each pass over the numbers is cheap in itself. But the whole array does not fit in a core's cache, and reading
it from further out takes longer than the arithmetic. So all passes are made over a few rows before the next
few rows are touched.
"""

import math

import numpy as np

from tinyvit import ops
from tinyvit.engine.cpu.products import pieces

_LINEAR = math.sqrt(2 / math.pi)
_CUBIC = 0.044715 * _LINEAR


def gelu_and_slope(h: np.ndarray, form: str) -> tuple[np.ndarray, np.ndarray]:
    """GELU of h (R, M), form one of FORMS, and its slope, both (R, M). h is overwritten."""
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


def twice_gelu(h: np.ndarray, form: str) -> np.ndarray:
    """2 GELU(h) of h (R, M), for inference: the next product can halve it. h is overwritten, and returned.

    It overflows above half of the largest number of its dtype.
    """
    twice_gate = _TWICE_GATES[form]
    for rows in pieces(*h.shape):
        piece = h[rows]
        piece *= twice_gate(piece)
    return h


def silu_gated(h: np.ndarray) -> np.ndarray:
    """silu(a) * u of h = [a, u] (R, 2M), for inference: (R, M)."""
    M = h.shape[1] // 2
    product = np.empty((len(h), M), dtype=h.dtype)
    for rows in pieces(len(h), M):
        a, u = h[rows, :M], h[rows, M:]
        gate = np.tanh(a * 0.5)
        gate += 1
        gate *= 0.5
        gate *= a
        np.multiply(gate, u, out=product[rows])
    return product


def _tanh_in_place(x: np.ndarray, g: np.ndarray) -> None:
    """x becomes the slope, and g the value: with s = (1 + tanh u) / 2 and u = (a + b x^2) x,

    g = x s           slope = s + 2 g (1 - s) du/dx           du/dx = a + 3 b x^2
    """
    square = x * x
    s = _one_plus_tanh(square * _CUBIC, x)
    s *= 0.5
    np.multiply(x, s, out=g)
    square *= 6 * _CUBIC
    square += 2 * _LINEAR  # 2 du/dx
    np.subtract(1, s, out=x)
    x *= square
    x *= g
    x += s


def _tanh_twice_gate(x: np.ndarray) -> np.ndarray:
    square = x * x
    square *= _CUBIC
    return _one_plus_tanh(square, x)


def _one_plus_tanh(s: np.ndarray, x: np.ndarray) -> np.ndarray:
    """1 + tanh u, in place of s = b x^2."""
    s += _LINEAR
    s *= x
    np.tanh(s, out=s)
    s += 1
    return s


def _exact_in_place(x: np.ndarray, g: np.ndarray) -> None:
    """x becomes the slope, and g the value: g = x Phi(x), slope = Phi(x) + x phi(x)."""
    gate = _exact_twice_gate(x)
    gate *= 0.5
    np.multiply(x, gate, out=g)
    density = x * x
    density *= -0.5
    np.exp(density, out=density)
    density *= 1 / math.sqrt(2 * math.pi)
    x *= density
    x += gate


def _exact_twice_gate(x: np.ndarray) -> np.ndarray:
    return 1 + ops.erf(x * math.sqrt(0.5))


def _quick_in_place(x: np.ndarray, g: np.ndarray) -> None:
    """x becomes the slope, and g the value: with the gate s, g = x s and slope = s + 1.702 g (1 - s)."""
    s = _quick_twice_gate(x)
    s *= 0.5
    np.multiply(x, s, out=g)
    np.subtract(1, s, out=x)
    x *= 1.702
    x *= g
    x += s


def _quick_twice_gate(x: np.ndarray) -> np.ndarray:
    return 1 + np.tanh(x * (1.702 / 2))  # twice the logistic function of 1.702 x


_IN_PLACE = {"tanh": _tanh_in_place, "exact": _exact_in_place, "quick": _quick_in_place}
_TWICE_GATES = {"tanh": _tanh_twice_gate, "exact": _exact_twice_gate, "quick": _quick_twice_gate}
FORMS = tuple(_IN_PLACE)
