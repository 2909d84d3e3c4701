"""GELU (Hendrycks and Gimpel 2016), the nonlinearity of the ViT's MLP, in its two common forms.

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
"""

import math

import numpy as np

from tinyvit.backend import Array, array_module
from tinyvit.ops.erf import erf

_SLOPE = 2 * math.sqrt(2 / math.pi)  # 2u = _SLOPE (x + _CUBIC x^3)
_CUBIC = 0.044715


def gelu(x: Array, form: str = "tanh") -> tuple[Array, tuple]:
    """GELU, elementwise, form 'tanh' or 'exact'; returns y, with x's shape and dtype, and the cache."""
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


_GATES = {"tanh": _tanh_gate, "exact": _exact_gate}
_SLOPES = {"tanh": _tanh_slope, "exact": _exact_slope}
GELU_FORMS = tuple(_GATES)
