"""Max-pooling, forward and backward.

In every window of an image (see windows.py), each channel keeps its largest number and drops the others:

    y[r, c] = X[r, c, m]        m = the pixel of the window at which X[r, c] is largest    (1)

Padding is filled with -infinity, which is never the largest. Of equal numbers, the first one counts.

Backward. A small change to a number that is not the largest changes nothing. So the gradient goes to the
largest alone, and from there back to its place in the image, where the windows that overlap add up:

    dX[r, c, p] = dy[r, c] [p = m]                                                         (2)
    dx = the windows dX, each added back where it was cut out                              (3)

The rest of the window gets no gradient at all: a max-pool decides which pixels learn.
"""

from tinyvit.backend import Array, array_module
from tinyvit.ops.windows import windows, windows_backward


def max_pool(x: Array, size: int = 3, stride: int = 2, padding: str = "SAME") -> tuple[Array, tuple]:
    """The largest number of every window in every channel: x (B, H, W, C) to y (B, h, w, C), and the cache.

    The defaults are those of the root of a ResNet. Raises ValueError as windows does.
    """
    xp = array_module(x)
    X, cut = windows(x, size, stride, padding, fill=float("-inf"))
    B, h, w, _, _, C = X.shape
    X = X.reshape(B, h, w, size * size, C)
    y = X.max(axis=3)  # (B, h, w, C)                                                        eq. 1
    m = xp.zeros(y.shape, dtype="uint16")
    for p in reversed(range(size * size)):  # so that of equal numbers, the first one is written last
        m = xp.where(X[:, :, :, p] == y, xp.uint16(p), m)
    return y, (m, cut)


def max_pool_backward(dy: Array, cache: tuple) -> Array:
    """Gradient of max_pool: dx (B, H, W, C) from dy (B, h, w, C)."""
    m, cut = cache
    B, h, w, C = m.shape
    size = cut[1]
    pixels = array_module(dy).arange(size * size)[:, None]  # (k k, 1)
    dX = dy[:, :, :, None] * (pixels == m[:, :, :, None])  # (B, h, w, k k, C)               eq. 2
    return windows_backward(dX.reshape(B, h, w, size, size, C), cut)  #                      eq. 3
