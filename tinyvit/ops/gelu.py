"""GELU (Hendrycks and Gimpel 2016), the nonlinearity of the ViT's MLP, in two forms; and its relatives.

    exact:      y = x Phi(x)           Phi(x) = (1 + erf(x / sqrt 2)) / 2                  (1)
    tanh form:  y = x (1 + tanh(u)) / 2      u = sqrt(2/pi) (x + 0.044715 x^3)             (2)

Phi is the normal distribution function: x is multiplied by the probability that a standard normal number is
below it. The tanh form differs from the exact one by at most 5e-4. Since (1 + tanh u) / 2 is the logistic
function of 2u, (2) costs only one exp:

    y = x s        s = 1 / (1 + exp(-2u))                                                  (3)

Backward, by the product rule, with dPhi/dx = phi(x) = exp(-x^2/2) / sqrt(2 pi) and ds/du = 2 s (1 - s):

    exact:      dy/dx = Phi(x) + x phi(x)                                                  (4)
    tanh form:  dy/dx = s + x s (1 - s) 2 du/dx    du/dx = sqrt(2/pi) (1 + 3 * 0.044715 x^2)   (5)

The official ViT uses the tanh form; weights published by timm and Hugging Face need the exact one.

Other models have another gate g(x) in y = x g(x), with the slope g + x dg/dx:

    quick:      g = 1 / (1 + exp(-1.702 x))     dy/dx = g + 1.702 x g (1 - g)
    silu:       g = 1 / (1 + exp(-x))           dy/dx = g + x g (1 - g)
    relu:       g = 1 where x > 0, else 0       dy/dx = g

The first is CLIP's cheap GELU. The second is the nonlinearity of SwiGLU: see ops.gate.
"""

import math
from collections.abc import Callable
from functools import partial

import numpy as np

from tinyvit.backend import Array, array_module
from tinyvit.ops.erf import erf

_SLOPE = 2 * math.sqrt(2 / math.pi)  # 2u = _SLOPE (x + _CUBIC x^3)
_CUBIC = 0.044715


def gelu(x: Array, form: str = "tanh") -> tuple[Array, tuple]:
    """x g(x), elementwise, for the gate g of one of GELU_FORMS; returns y, shaped as x, and the cache."""
    gate = _GATES[form](x)
    return x * gate, (x, gate, form)


def gelu_backward(dy: Array, cache: tuple) -> Array:
    """Gradient of gelu: dx, with the shape of x."""
    x, gate, form = cache
    return dy * _SLOPES[form](x, gate)


def _tanh_gate(x: Array) -> Array:
    z = x * x
    z *= -_SLOPE * _CUBIC
    z -= _SLOPE
    z *= x  # -2u
    with np.errstate(over="ignore"):  # exp of a large number is inf, and 1 / (1 + inf) is 0, as it should be
        array_module(x).exp(z, out=z)
    z += 1
    return array_module(x).reciprocal(z, out=z)  # s                                         eq. 3


def _tanh_slope(x: Array, s: Array) -> Array:
    slope = x * x
    slope *= 3 * _SLOPE * _CUBIC
    slope += _SLOPE  # 2 du/dx
    slope *= s
    slope *= 1 - s  # 0 where x is large, so that the next product does not overflow
    slope *= x
    slope += s  # s + x s (1 - s) 2 du/dx                                                    eq. 5
    return slope


def _exact_gate(x: Array) -> Array:
    return (1 + erf(x * math.sqrt(0.5))) * 0.5  # Phi(x)                                      eq. 1


def _exact_slope(x: Array, phi: Array) -> Array:
    density = array_module(x).exp(x * x * -0.5) * (1 / math.sqrt(2 * math.pi))
    return phi + x * density  #                                                              eq. 4


def _logistic_gate(x: Array, factor: float) -> Array:
    with np.errstate(over="ignore"):  # as above
        return 1 / (1 + array_module(x).exp(x * -factor))


def _logistic_slope(x: Array, g: Array, factor: float) -> Array:
    return g + x * g * (1 - g) * factor


def _relu_gate(x: Array) -> Array:
    return (x > 0).astype(x.dtype)


_GATES: dict[str, Callable[[Array], Array]] = {
    "tanh": _tanh_gate,
    "exact": _exact_gate,
    "quick": partial(_logistic_gate, factor=1.702),
    "silu": partial(_logistic_gate, factor=1.0),
    "relu": _relu_gate,
}
_SLOPES: dict[str, Callable[[Array, Array], Array]] = {
    "tanh": _tanh_slope,
    "exact": _exact_slope,
    "quick": partial(_logistic_slope, factor=1.702),
    "silu": partial(_logistic_slope, factor=1.0),
    "relu": lambda x, g: g,
}
GELU_FORMS = tuple(_GATES)
