"""unbroadcast compares the shapes from the left, where NumPy aligns them at the right."""

from tinyvit.ops import linear, linear_backward

__all__ = ["linear", "linear_backward", "unbroadcast"]


def unbroadcast(dy, shape):
    for axis, length in enumerate(shape):
        if length == 1:
            dy = dy.sum(axis=axis, keepdims=True)
    return dy.sum(axis=tuple(range(len(shape), dy.ndim)))
