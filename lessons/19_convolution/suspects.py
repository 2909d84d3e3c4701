"""Three backwards for max-pooling. Two are right; one is right only most of the time.

SUSPECTS gives for each name the forward, which is the same for all three, and the backward. forward(images)
returns (y, cache), and backward(dy, cache) a tuple with the gradient of the images.
"""

import numpy as np

from tinyvit.ops import max_pool, windows, windows_backward

SIZE, STRIDE = 3, 2


def forward(images):
    y, (_, (_, _, _, (_, above, _), (_, left, _))) = max_pool(images, SIZE, STRIDE)
    return y, (images, y, above, left)


def window_by_window(dy, cache):
    x, y, above, left = cache
    dx = np.zeros_like(x)
    for b, r, c, channel in np.ndindex(*y.shape):
        top, start = r * STRIDE - above, c * STRIDE - left
        rows, columns = slice(max(top, 0), top + SIZE), slice(max(start, 0), start + SIZE)
        window = x[b, rows, columns, channel]
        i, j = np.unravel_index(window.argmax(), window.shape)
        dx[b, rows, columns, channel][i, j] += dy[b, r, c, channel]
    return (dx,)


def pixel_by_pixel(dy, cache):
    x, y, above, left = cache
    dx = np.zeros_like(x)
    for b, i, j, channel in np.ndindex(*x.shape):
        for r, c in np.ndindex(*y.shape[1:3]):
            inside = 0 <= i + above - r * STRIDE < SIZE and 0 <= j + left - c * STRIDE < SIZE
            if inside and x[b, i, j, channel] == y[b, r, c, channel]:
                dx[b, i, j, channel] += dy[b, r, c, channel]
    return (dx,)


def all_at_once(dy, cache):
    x, y, _, _ = cache
    pieces, cut = windows(x, SIZE, STRIDE)
    rows = pieces.reshape(*y.shape[:3], SIZE * SIZE, y.shape[3])
    dpieces = np.zeros_like(rows)
    np.put_along_axis(dpieces, rows.argmax(axis=3)[:, :, :, None], dy[:, :, :, None], axis=3)
    return (windows_backward(dpieces.reshape(pieces.shape), cut),)


SUSPECTS = {
    "window by window": (forward, window_by_window),
    "pixel by pixel": (forward, pixel_by_pixel),
    "all at once": (forward, all_at_once),
}
