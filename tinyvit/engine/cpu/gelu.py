"""GELU and its slope together, on a few rows at a time; likewise its relatives, and gates.

The backward pass of y = GELU(h) needs the slope GELU'(h), which shares nearly everything with the value. Both
are computed in the forward pass, and the slope takes the place of h: the backward pass is then a single
product, dh = dy * slope, and h and the gate need not be kept.

Each pass over the numbers is cheap in itself. But the whole array does not fit in a core's cache, and reading
it from further out takes longer than the arithmetic. So all passes are made over a few rows before the next
few rows are touched.

A gated MLP (see ops.gate) has h = [a, u] and y = act(a) u. Then there are two slopes, u act'(a) and act(a),
and dy multiplies both.
"""

import math
from collections.abc import Callable
from functools import partial

import numpy as np

from tinyvit import ops
from tinyvit.engine.cpu.products import pieces

_LINEAR = math.sqrt(2 / math.pi)
_CUBIC = 0.044715 * _LINEAR


def gelu_and_slope(h: np.ndarray, form: str, gated: bool = False) -> tuple[np.ndarray, np.ndarray]:
    """GELU of h (R, M), or another of ops.GELU_FORMS, and its slope, both (R, M); h is overwritten.

    If gated, h is (R, 2M), and so are the slopes.
    """
    M, in_place = _width(h, gated), _IN_PLACE[form]
    g = np.empty((len(h), M), dtype=h.dtype)
    for rows in pieces(*h.shape):
        a, u, value = h[rows, :M], h[rows, M:], g[rows]
        in_place(a, value)
        if gated:
            a *= u
            passed = value.copy()
            value *= u
            u[...] = passed
    return g, h


def gelu_backward(dg: np.ndarray, slope: np.ndarray, sums: np.ndarray) -> np.ndarray:
    """dh for dg (R, M), in the place of the slope; its column sums are added to sums."""
    ones = np.ones(len(dg), dtype=dg.dtype)
    for rows in pieces(*slope.shape):
        piece = slope[rows]
        by_factor = piece.reshape(len(piece), -1, dg.shape[1])  # (r, 1, M), or (r, 2, M) if gated: a view
        by_factor *= dg[rows, None]
        sums += ones[rows] @ piece
    return slope


def twice_gelu(h: np.ndarray, form: str, gated: bool = False) -> np.ndarray:
    """2 GELU(h) of h (R, M), for inference: the next product can halve it. h is overwritten, and returned.

    It overflows above half of the largest number of its dtype. If gated, h is (R, 2M), and the result half of
    it.
    """
    M, twice_gate = _width(h, gated), _TWICE_GATES[form]
    for rows in pieces(*h.shape):
        a = h[rows, :M]
        a *= twice_gate(a)
        if gated:
            a *= h[rows, M:]
    return h[:, :M]


def _width(h: np.ndarray, gated: bool) -> int:
    """M, the number of neurons."""
    return h.shape[1] // 2 if gated else h.shape[1]


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


def _logistic_in_place(x: np.ndarray, g: np.ndarray, c: float) -> None:
    """x becomes the slope, and g the value: with s the logistic function of c x, g = x s and
    slope = s + c g (1 - s)."""
    s = _logistic_twice_gate(x, c)
    s *= 0.5
    np.multiply(x, s, out=g)
    np.subtract(1, s, out=x)
    x *= c
    x *= g
    x += s


def _logistic_twice_gate(x: np.ndarray, c: float) -> np.ndarray:
    return 1 + np.tanh(x * (c / 2))


def _relu_in_place(x: np.ndarray, g: np.ndarray) -> None:
    np.maximum(x, 0, out=g)
    np.greater(x, 0, out=x)


def _relu_twice_gate(x: np.ndarray) -> np.ndarray:
    return np.multiply(x > 0, 2, dtype=x.dtype)


_IN_PLACE: dict[str, Callable[[np.ndarray, np.ndarray], None]] = {
    "tanh": _tanh_in_place,
    "exact": _exact_in_place,
    "quick": partial(_logistic_in_place, c=1.702),
    "silu": partial(_logistic_in_place, c=1.0),
    "relu": _relu_in_place,
}
_TWICE_GATES: dict[str, Callable[[np.ndarray], np.ndarray]] = {
    "tanh": _tanh_twice_gate,
    "exact": _exact_twice_gate,
    "quick": partial(_logistic_twice_gate, c=1.702),
    "silu": partial(_logistic_twice_gate, c=1.0),
    "relu": _relu_twice_gate,
}
