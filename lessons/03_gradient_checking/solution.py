"""The method is the library's; the search among the suspects is written out here."""

from tinyvit.checking import TOLERANCE, gradient_error, numerical_gradient

__all__ = ["gradient_error", "numerical_gradient", "wrong_backwards"]


def wrong_backwards(suspects, rng):
    """The names of the suspects whose backward is wrong, a list in the order given."""
    return [name for name, suspect in suspects.items() if not _is_right(*suspect, rng)]


def _is_right(forward, backward, inputs, rng):
    y, cache = forward(*inputs)
    dy = rng.standard_normal(y.shape)
    gradients = backward(dy, cache)
    for x, by_hand in zip(inputs, gradients, strict=True):
        if by_hand.shape != x.shape:
            return False
        numerical = numerical_gradient(lambda: (forward(*inputs)[0] * dy).sum(), x)
        if not gradient_error(by_hand, numerical) < TOLERANCE:  # "not <": NaN is wrong too
            return False
    return True
