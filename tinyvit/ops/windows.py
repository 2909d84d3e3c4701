"""Cut an image into overlapping windows, as convolution and pooling read it, and add them back together.

A window of k x k pixels slides over an image x (H, W, C) in steps of s, the stride. Window (r, c), at pixel
(p, q) of the window, holds

    y[r, c, p, q] = x[r s + p - a, c s + q - b]                                            (1)

or a fill value where that lies outside the image: a rows are padded above it, b columns to the left. Of the
two kinds of padding, VALID adds nothing, so the windows stay inside the image; SAME adds just enough for
ceil(H / s) rows of windows, as TensorFlow does it. Going down (and likewise across):

    VALID:   h = floor((H - k) / s) + 1                                                    (2)
    SAME:    h = ceil(H / s)        t = max((h - 1) s + k - H, 0)        a = floor(t / 2)  (3)

t is the number of rows added in all. If it is odd, the extra row goes below: with 3 x 3 windows and stride 2,
an image of even height is padded only below, and its first window starts at pixel (0, 0). With PyTorch's
padding=1 it would start one row above the image.

Backward. A pixel is copied into every window that covers it, so its gradient is the sum over its copies:

    dx[i, j] = sum of dy[r, c, p, q] over all r s + p - a = i and c s + q - b = j          (4)

With s = k and no padding there is one copy of each pixel, and this is patchify.
"""

from tinyvit.backend import Array, array_module

PADDINGS = ("SAME", "VALID")


def windows(
    x: Array, size: int, stride: int = 1, padding: str = "SAME", fill: float = 0.0
) -> tuple[Array, tuple]:
    """The windows of images x (B, H, W, C): y (B, h, w, size, size, C), and the cache.

    Windows of one pixel are returned as a view of x, since nothing has to be copied. Raises ValueError if
    padding is neither SAME nor VALID, or if the image is smaller than one window that must lie inside it.
    """
    xp = array_module(x)
    B, H, W, C = x.shape
    down, across = placement(H, size, stride, padding), placement(W, size, stride, padding)
    cache = x.shape, size, stride, down, across
    if size == 1:
        return x[:, ::stride, ::stride, None, None], cache
    (h, top, bottom), (w, left, right) = down, across
    if top or bottom or left or right:
        padded = xp.full((B, top + H + bottom, left + W + right, C), fill, dtype=x.dtype)
        padded[:, top : top + H, left : left + W] = x
        x = padded
    y = xp.empty((B, h, w, size, size, C), dtype=x.dtype)
    for p in range(size):
        for q in range(size):
            y[:, :, :, p, q] = x[:, steps(p, h, stride), steps(q, w, stride)]  #             eq. 1
    return y, cache


def windows_backward(dy: Array, cache: tuple) -> Array:
    """Gradient of windows: dx (B, H, W, C) from dy (B, h, w, size, size, C)."""
    shape, size, stride, (h, top, bottom), (w, left, right) = cache
    if size == stride == 1:
        return dy[:, :, :, 0, 0]
    B, H, W, C = shape
    padded = array_module(dy).zeros((B, top + H + bottom, left + W + right, C), dtype=dy.dtype)
    for p in range(size):
        for q in range(size):
            padded[:, steps(p, h, stride), steps(q, w, stride)] += dy[:, :, :, p, q]  #      eq. 4
    return padded[:, top : top + H, left : left + W]


def placement(length: int, size: int, stride: int, padding: str) -> tuple[int, int, int]:
    """Along one axis of this length: the number of windows, and what is padded before and after it."""
    if padding not in PADDINGS:
        raise ValueError(f"padding is {padding!r}, expected one of {', '.join(PADDINGS)}")
    if padding == "VALID":
        if length < size:
            raise ValueError(f"an image of {length} pixels has no window of {size} inside it")
        return (length - size) // stride + 1, 0, 0  #                                        eq. 2
    count = -(-length // stride)
    added = max((count - 1) * stride + size - length, 0)
    return count, added // 2, added - added // 2  #                                          eq. 3


def steps(start: int, count: int, stride: int) -> slice:
    """The slice of `count` places, a stride apart, from `start`."""
    return slice(start, start + (count - 1) * stride + 1, stride)
