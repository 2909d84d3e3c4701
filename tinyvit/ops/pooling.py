"""From the tokens of an image to what the head reads (ViT eq. 4, appendices D.3 and B.1.2).

One vector, if the image is to be classified, or one for each patch whose contents are to be predicted:

    class token:   y = x_0                                                                 (1)
    mean:          y = (x_1 + ... + x_T) / T                                               (2)
    chosen rows:   y_i = x_r(i),   no row twice                                             (3)

Backward: the gradient goes back to the tokens that were used, and to no others.

    class token:   dx_0 = dy,   dx_j = 0 for all other positions                           (4)
    mean:          dx_j = dy / T for all j                                                 (5)
    chosen rows:   dx_r(i) = dy_i, dx_j = 0 for all other rows                              (6)
"""

from tinyvit.backend import Array, array_module


def token_pool(x: Array) -> tuple[Array, tuple]:
    """The class token: x (B, N, D) to y (B, D), and the cache."""
    return x[:, 0], x.shape  #                                                               eq. 1


def token_pool_backward(dy: Array, cache: tuple) -> Array:
    """Gradient of token_pool: dx (B, N, D), zero except at the class token."""
    dx = array_module(dy).zeros(cache, dtype=dy.dtype)
    dx[:, 0] = dy  #                                                                         eq. 4
    return dx


def mean_pool(x: Array) -> tuple[Array, tuple]:
    """The mean of all tokens: x (B, T, D) to y (B, D), and the cache."""
    return x.mean(axis=1), x.shape  #                                                        eq. 2


def mean_pool_backward(dy: Array, cache: tuple) -> Array:
    """Gradient of mean_pool: dx (B, T, D)."""
    T = cache[1]
    return array_module(dy).broadcast_to((dy * (1 / T))[:, None], cache)  #                  eq. 5


def row_pool(x: Array, rows: Array) -> tuple[Array, tuple]:
    """Rows (B, n), different ones, of the tokens x (B, N, D) of each image: y (B, n, D), and the cache."""
    images = array_module(x).arange(len(x))[:, None]  # (B, 1)
    return x[images, rows], (x.shape, images, rows)  #                                       eq. 3


def row_pool_backward(dy: Array, cache: tuple) -> Array:
    """Gradient of row_pool: dx (B, N, D), zero except at the chosen rows."""
    shape, images, rows = cache
    dx = array_module(dy).zeros(shape, dtype=dy.dtype)
    dx[images, rows] = dy  #                                                                 eq. 6
    return dx
