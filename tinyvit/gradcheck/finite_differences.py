"""Checking hand-written gradients against the effect that small changes have on the loss.

For a function f of an array x and a random upstream gradient u, the scalar loss = sum(u * f(x)) has

    dloss/dx_i  ~  (loss(x + h e_i) - loss(x - h e_i)) / 2h                                (1)

with an error of order h^2 from the curvature and of order 1e-16 / h from rounding: in float64, h = 1e-5
leaves about 1e-10. Two arrays of gradients, a by hand and n by (1), are compared as a whole:

    error = |a - n| / max(|a| + |n|, 1e-3)                                                 (2)

It matters that u is random: with u all ones, a LayerNorm or softmax whose backward pass returned zeros would
pass. The floor in (2) matters where the true gradient is exactly zero, as for the key bias of attention.
"""

import math
from collections.abc import Callable, Sequence

import numpy as np

from tinyvit.backend import Array, array_module

STEP = 1e-5
TOLERANCE = 1e-6


def numerical_gradient(loss: Callable[[], Array], x: Array, step: float = STEP) -> Array:
    """Equation 1 for every number of x (float64), which is changed in place and restored."""
    if x.dtype != np.float64 or not x.flags.c_contiguous:
        raise ValueError(
            f"x is {x.dtype}, expected contiguous float64: float32 is too imprecise for finite differences"
        )
    gradient = array_module(x).empty_like(x)
    numbers, out = x.reshape(-1), gradient.reshape(-1)  # views
    for i in range(numbers.size):
        here = float(numbers[i])
        numbers[i] = here + step
        above = loss()
        numbers[i] = here - step
        out[i] = (above - loss()) / (2 * step)
        numbers[i] = here
    return gradient


def gradient_error(by_hand: Array, numerical: Array) -> float:
    """The distance of two gradients relative to their size (eq. 2); infinite if any number is not finite."""
    norm = array_module(by_hand).linalg.norm
    difference, scale = norm(by_hand - numerical), norm(by_hand) + norm(numerical)
    error = float(difference) / max(float(scale), 1e-3)
    return math.inf if math.isnan(error) else error  # max() of several errors could ignore a NaN


def check_gradients(
    forward: Callable[..., tuple[Array, object]],
    backward: Callable[[Array, object], Array | Sequence[Array]],
    inputs: Sequence[Array],
    rng: np.random.Generator,
) -> list[float]:
    """The error of each gradient that `backward` returns, in the order of the inputs.

    forward(*inputs) returns (y, cache); backward(dy, cache) returns a gradient for each input, as a tuple if
    there is more than one. The inputs are float64, and dy is drawn from rng. Raises ValueError if the shape
    of a gradient differs from that of its input.
    """
    y, cache = forward(*inputs)
    xp = array_module(y)
    dy = xp.asarray(rng.standard_normal(y.shape))
    gradients = backward(dy, cache)
    if not isinstance(gradients, tuple | list):
        gradients = (gradients,)
    errors = []
    for number, (x, by_hand) in enumerate(zip(inputs, gradients, strict=True)):
        if by_hand.shape != x.shape:
            raise ValueError(f"gradient {number} has shape {by_hand.shape}, its input has {x.shape}")
        numerical = numerical_gradient(lambda: (forward(*inputs)[0] * dy).sum(), x)
        errors.append(gradient_error(by_hand, numerical))
    return errors
