"""Backwards for resized images that are right for some sizes only. A good check distrusts all of them."""

import numpy as np

from tinyvit.ops.resize import resize_images, resize_matrix


def forward(images, size, method):
    """Resize images (B, H, W, C); the cache has everything that a backward could want."""
    down = resize_matrix(images.shape[1], size[0], method)
    across = resize_matrix(images.shape[2], size[1], method)
    return np.einsum("ij,kl,bjlc->bikc", down, across, images), (down, across, images.shape, method)


def _spread(dy, down, across):
    return np.einsum("ij,kl,bikc->bjlc", down, across, dy)


def right(dy, cache):
    down, across, _, _ = cache
    return _spread(dy, down, across)


def right_pixel_by_pixel(dy, cache):
    """Every new pixel gives its gradient to the old ones that it was made of."""
    down, across, shape, _ = cache
    dx = np.zeros(shape)
    for i, k in np.ndindex(dy.shape[1:3]):
        for j, l in zip(*np.nonzero(np.outer(down[i], across[k])), strict=True):
            dx[:, j, l] += down[i, j] * across[k, l] * dy[:, i, k]
    return dx


def resized_back(dy, cache):
    """The gradient is an image too, so it is resized to the old size."""
    _, _, shape, method = cache
    return resize_images(dy, shape[1:3], method)


def always_corners(dy, cache):
    """The matrices are those of 'corners'."""
    _, _, (_, H, W, _), _ = cache
    return _spread(dy, resize_matrix(H, dy.shape[1], "corners"), resize_matrix(W, dy.shape[2], "corners"))


def one_matrix_for_a_square(dy, cache):
    """A square image has the same matrix for its rows and its columns: but is the new one square?"""
    down, across, (_, H, W, _), method = cache
    if H == W:
        across = resize_matrix(W, dy.shape[1], method)[: dy.shape[2]]
        across = np.concatenate([across, np.zeros((dy.shape[2] - len(across), W))])
    return _spread(dy, down, across)


def border_lost(dy, cache):
    """What was read beyond the border is given back to nobody."""
    down, across, (_, H, W, _), method = cache
    if method == "bilinear":
        down, across = (_without_border(n, m) for n, m in ((H, dy.shape[1]), (W, dy.shape[2])))
    return _spread(dy, down, across)


def _without_border(n, m):
    at = (np.arange(m) + 0.5) * n / m - 0.5
    return (1 - np.abs(at[:, None] - np.arange(n))).clip(0)


def smaller_is_a_mean(dy, cache):
    """Where the image becomes smaller, every old pixel gets an equal part of its cell's gradient."""
    down, across, _, _ = cache
    matrices = []
    for matrix in (down, across):
        m, n = matrix.shape
        if 1 < m < n:
            cell = np.arange(n) * m // n
            matrix = (cell == np.arange(m)[:, None]) / np.bincount(cell)[:, None]
        matrices.append(matrix)
    return _spread(dy, *matrices)


def one_point_is_the_mean(dy, cache):
    """A single new row or column is taken for the mean of all old ones."""
    matrices = [np.full_like(each, 1 / each.shape[1]) if len(each) == 1 else each for each in cache[:2]]
    return _spread(dy, *matrices)


def one_image_only(dy, cache):
    """All images get the gradient of the first."""
    dx = right(dy, cache)
    return np.repeat(dx[:1], len(dx), axis=0)


def one_channel_only(dy, cache):
    """All channels get the gradient of the first."""
    dx = right(dy, cache)
    return np.repeat(dx[..., :1], dx.shape[-1], axis=-1)


RIGHT = {"two matrices": (forward, right), "pixel by pixel": (forward, right_pixel_by_pixel)}
WRONG = {
    wrong.__name__: (forward, wrong)
    for wrong in (
        resized_back,
        always_corners,
        one_matrix_for_a_square,
        border_lost,
        smaller_is_a_mean,
        one_point_is_the_mean,
        one_image_only,
        one_channel_only,
    )
}
