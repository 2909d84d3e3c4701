"""The error function, accurate to nearly the last digit of the dtype, from exp and a polynomial.

    erf(x) = 2/sqrt(pi) * integral of exp(-t^2) for t from 0 to x                          (1)

NumPy has no erf. For z = |x|, the quantity 1 - erf(z) decays like exp(-z^2). Dividing by that leaves a smooth
function that varies slowly and is almost a straight line in the variable t = 2 / (2 + z):

    1 - erf(z) = t exp(-z^2 + p(t))                                                        (2)

p is fitted once, at import, to math.erfc of the standard library at Chebyshev nodes of t (z from 0 to 6;
beyond that, erf is 1 to all digits of a double). The Chebyshev coefficients of a smooth function decay
geometrically, so a few terms reach the accuracy of the dtype. Negative x follows from erf(-x) = -erf(x).

Backward: derf/dx = 2/sqrt(pi) exp(-x^2), the integrand of (1).
"""

import math
from typing import Any

import numpy as np
from numpy.polynomial import chebyshev

from tinyvit.backend import Array, array_module

_LARGEST = 6.0  # 1 - erf(6) is 2e-17: erf is 1 in float64 from here on
_T_LOW, _T_HIGH = 2 / (2 + _LARGEST), 1.0


def _fit(degree: int) -> list[float]:
    """The power-series coefficients of p in (2), lowest order first, in s = t rescaled to [-1, 1]."""

    def p(s: np.ndarray) -> Any:  # an array, which NumPy's types do not expect
        t = (_T_HIGH - _T_LOW) / 2 * s + (_T_HIGH + _T_LOW) / 2
        z = 2 / t - 2
        return np.array([math.log(math.erfc(b) / a) + b * b for a, b in zip(t, z, strict=True)])

    return [float(c) for c in chebyshev.cheb2poly(chebyshev.chebinterpolate(p, degree))]


_COEFFICIENTS = {"float64": _fit(20), "float32": _fit(9)}


def erf(x: Array) -> Array:
    """Error function, elementwise, in x's dtype. Absolute error below 1e-15 (float64) or 4e-7 (float32)."""
    xp = array_module(x)
    z = xp.minimum(xp.abs(x), _LARGEST)
    t = 2 / (2 + z)
    s = t * (2 / (_T_HIGH - _T_LOW)) - (_T_HIGH + _T_LOW) / (_T_HIGH - _T_LOW)  # t rescaled to [-1, 1]
    coefficients = _COEFFICIENTS["float64" if x.dtype.itemsize == 8 else "float32"]
    p = xp.full_like(s, coefficients[-1])
    for c in reversed(coefficients[:-1]):  # Horner's rule
        p = p * s + c
    return xp.copysign(1 - t * xp.exp(p - z * z), x)  #                                      eq. 2
