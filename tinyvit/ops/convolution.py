"""Convolution, forward and backward, as a single matrix product.

The same kernel W (k, k, I, O) is applied to every k x k window of an image x (H, W, I); see windows.py for
where the windows lie. With X[r, c] the window in row r and column c, padded with zeros:

    y[r, c, o] = sum over p, q, i of X[r, c, p, q, i] W[p, q, i, o]                        (1)

Write each window as one row of k k I numbers, for all windows of all images, and the kernel as a matrix with
as many rows. The sum is then that of a linear layer without a bias:

    y = X W            (B h w, k k I) times (k k I, O)                                     (2)

Backward, therefore, is that of a linear layer, and then that of cutting into windows:

    dX = dy W^T            dW = X^T dy                                                     (3)
    dx = the windows dX, each added back where it was cut out                              (4)

A convolution is a linear layer with most of its weights fixed at zero and the rest shared: a pixel of y sees
only its own window, and all of them use one kernel. This is where shifting the image shifts the result.
"""

from tinyvit.backend import Array
from tinyvit.ops.windows import windows, windows_backward


def convolution(x: Array, kernel: Array, stride: int = 1, padding: str = "SAME") -> tuple[Array, tuple]:
    """Apply kernel (k, k, I, O) to images x (B, H, W, I); returns y (B, h, w, O) and the cache.

    With SAME padding, h and w are ceil(H / stride) and ceil(W / stride). Raises ValueError as windows does.
    """
    X, cut = windows(x, len(kernel), stride, padding)  # (B, h, w, k, k, I)
    matrix = kernel.reshape(-1, kernel.shape[-1])  # (k k I, O)
    y = X.reshape(-1, len(matrix)) @ matrix  # (B h w, O)                                    eq. 2
    return y.reshape(*X.shape[:3], -1), (x, kernel, cut, padding)


def convolution_backward(dy: Array, cache: tuple, inputs: bool = True) -> tuple[Array | None, Array]:
    """Gradients of convolution: dx (B, H, W, I), dkernel (k, k, I, O).

    Without `inputs`, dx is None: the gradient of the images that the first convolution reads is not needed.
    The windows take k k / (stride stride) times the memory of x: they are cut again, not kept.
    """
    x, kernel, cut, padding = cache
    _, k, stride, *_ = cut
    X, _ = windows(x, k, stride, padding)  # (B, h, w, k, k, I)
    matrix = kernel.reshape(-1, kernel.shape[-1])  # (k k I, O)
    dy_rows = dy.reshape(-1, dy.shape[-1])  # (B h w, O)
    dmatrix = X.reshape(-1, len(matrix)).T @ dy_rows  # (k k I, O)                           eq. 3
    dkernel = dmatrix.reshape(kernel.shape)
    if not inputs:
        return None, dkernel
    dX = (dy_rows @ matrix.T).reshape(X.shape)  #                                            eq. 3
    return windows_backward(dX, cut), dkernel  #                                             eq. 4
