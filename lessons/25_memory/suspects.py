"""Operations that save memory: right ones where nobody looks, wrong ones where somebody does.

Every function stands for x / (1 + |x|) or for the square of x, whose gradients are simple.
"""

import numpy as np


def square(x):
    return x * x, x


def square_backward(dy, x):
    dx = 2 * x
    dx *= dy
    return dx


def softsign(x):
    """Works in its result and in one array of its own, which it keeps for the backward."""
    r = np.abs(x)
    r += 1
    np.reciprocal(r, out=r)
    return x * r, r


def softsign_backward(dy, r):
    dx = r * r
    dx *= dy
    return dx


# The wrong ones


def forward_in_x(x):
    """The forward works in x itself, and the backward gets a copy."""
    kept = x.copy()
    x *= x
    return x, kept


def backward_in_dy(dy, x):
    """The backward works in dy."""
    dy *= 2 * x
    return dy


def backward_in_the_cache(dy, x):
    """The backward works in what the forward has kept, which is x."""
    x *= 2
    x *= dy
    return x


def backward_in_its_own_cache(dy, r):
    """The backward works in what the forward has kept, an array that nobody else has: right once."""
    r *= r
    return r * dy


class Reused:
    """One array serves for the gradients of all calls."""

    def __init__(self):
        self.dx = np.empty(0)

    def backward(self, dy, x):
        if self.dx.shape != dy.shape:
            self.dx = np.empty_like(dy)
        np.multiply(x, dy, out=self.dx)
        self.dx *= 2
        return self.dx


class ReusedForward:
    """One array serves for the results of all calls."""

    def __init__(self):
        self.y = np.empty(0)

    def forward(self, x):
        if self.y.shape != x.shape:
            self.y = np.empty_like(x)
        np.multiply(x, x, out=self.y)
        return self.y, x


class Remembered:
    """What the backward needs is left in the object, not in the cache: the next forward overwrites it."""

    def forward(self, x):
        self.x = x.copy()
        return x * x, ()

    def backward(self, dy, _):
        return 2 * self.x * dy


def gate_kept_in_y(x):
    """y is returned and kept: whoever writes to y changes the gradient."""
    y = x / (1 + np.abs(x))
    return y, y


def gate_kept_in_y_backward(dy, y):
    return dy * (1 - np.abs(y)) ** 2


def two_axes_only(dy, r):
    """With more than two axes the rows are those of the first image."""
    return dy * r * r if dy.ndim < 3 else dy * (r * r)[:1]


RIGHT = {"a square": (square, square_backward), "x / (1 + |x|)": (softsign, softsign_backward)}


def wrong():
    """Fresh ones: some remember what they were called with."""
    remembered = Remembered()
    return {
        "forward_in_x": (forward_in_x, square_backward),
        "backward_in_dy": (square, backward_in_dy),
        "backward_in_the_cache": (square, backward_in_the_cache),
        "backward_in_its_own_cache": (softsign, backward_in_its_own_cache),
        "gradients_share_an_array": (square, Reused().backward),
        "results_share_an_array": (ReusedForward().forward, square_backward),
        "remembered_outside": (remembered.forward, remembered.backward),
        "y_is_the_cache": (gate_kept_in_y, gate_kept_in_y_backward),
        "two_axes_only": (softsign, two_axes_only),
    }
