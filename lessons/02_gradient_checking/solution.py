"""The method is the library's; the search among the suspects is written out here."""

import numpy as np

from tinyvit.gradcheck import TOLERANCE, gradient_error, numerical_gradient

__all__ = ["check_in_two", "gradient_error", "guilty_pick", "numerical_gradient", "wrong_backwards"]


def wrong_backwards(suspects, rng):
    """The names of the suspects whose backward is wrong, a list in the order given."""
    return [name for name, suspect in suspects.items() if not _is_right(*suspect, rng)]


def _is_right(forward, backward, inputs, rng):
    y, cache = forward(*inputs)
    dy = rng.standard_normal(y.shape)
    gradients = backward(dy, cache)
    if [g.shape for g in gradients] != [x.shape for x in inputs]:
        return False
    for x, by_hand in zip(inputs, gradients, strict=True):
        numerical = numerical_gradient(lambda: (forward(*inputs)[0] * dy).sum(), x)
        if not gradient_error(by_hand, numerical) < TOLERANCE:  # "not <": NaN is wrong too
            return False
    return True


def guilty_pick():
    """The += keeps only one of the two gradients where a row is so short that one value is picked twice."""
    return "by index", np.array([[1.0, 2.0], [3.0, 5.0], [-1.0, 4.0]])


def check_in_two(forward, backward, inputs, rng):
    """All numbers are pushed at once, each by its own random amount: the slope along that direction."""
    y, cache = forward(*inputs)
    dy = rng.standard_normal(y.shape)
    gradients = backward(dy, cache)
    push = [rng.standard_normal(x.shape) for x in inputs]
    by_hand = sum((p * g).sum() for p, g in zip(push, gradients, strict=True))
    step = 1e-5
    above, below = (
        (forward(*(x + h * p for x, p in zip(inputs, push, strict=True)))[0] * dy).sum()
        for h in (step, -step)
    )
    return gradient_error(np.asarray(by_hand), np.asarray((above - below) / (2 * step)))
