"""unbroadcast sums over the missing axes on the left, and forgets those of length 1."""

from tinyvit.ops import linear, linear_backward

__all__ = ["linear", "linear_backward", "unbroadcast"]


def unbroadcast(dy, shape):
    return dy.sum(axis=tuple(range(dy.ndim - len(shape))))
