"""The library's own linear layer is the model answer; unbroadcast is written out here."""

from tinyvit.ops import linear, linear_backward

__all__ = ["linear", "linear_backward", "unbroadcast"]


def unbroadcast(dy, shape):
    """Sum dy over the axes along which an array of the given shape was copied."""
    padded = (1,) * (dy.ndim - len(shape)) + tuple(shape)  # missing axes are of length 1
    copied = tuple(axis for axis, length in enumerate(padded) if length == 1)
    return dy.sum(axis=copied, keepdims=True).reshape(shape)  # eq. 5
