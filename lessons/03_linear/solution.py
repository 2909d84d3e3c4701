"""The library's own linear layer is the model answer; the rest is written out here."""

from tinyvit.ops import linear, linear_backward

__all__ = ["linear", "linear_backward", "tied_backward", "unbroadcast"]


def unbroadcast(dy, shape):
    """Sum dy over the axes along which an array of the given shape was copied."""
    padded = (1,) * (dy.ndim - len(shape)) + tuple(shape)  # missing axes are of length 1
    copied = tuple(axis for axis, length in enumerate(padded) if length == 1)
    return dy.sum(axis=copied, keepdims=True).reshape(shape)  # eq. 5


def tied_backward(dy, x, weight):
    """y = (x W) W^T: each of the two products is a linear layer, and W gets the gradients of both."""
    code, dcode = x @ weight, dy @ weight  # (..., O)
    x_rows, dcode_rows = x.reshape(-1, x.shape[-1]), dcode.reshape(-1, dcode.shape[-1])
    code_rows, dy_rows = code.reshape(-1, code.shape[-1]), dy.reshape(-1, dy.shape[-1])
    return dcode @ weight.T, x_rows.T @ dcode_rows + dy_rows.T @ code_rows
