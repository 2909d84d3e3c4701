"""Each square of 2 x 2 patches becomes one token, their mean, so that later blocks have fewer tokens.

S(i) are the four patches of square i:

    y_i = sum of x_j / 4 over j in S(i)                                                    (1)

Backward: each of the four gets a quarter of the gradient of their mean.

    dx_j = dy_i / 4 for j in S(i)                                                          (2)
"""

from tinyvit.backend import Array, array_module


def merge_squares(x: Array, grid: tuple[int, int]) -> tuple[Array, tuple]:
    """The mean of each square of 2 x 2 patches: x (B, N, D) to y, and the cache.

    The last tokens of x are patches, row by row of the grid, whose sides are even; those before them stay.
    """
    B, N, D = x.shape
    gh, gw = grid
    prefix = N - gh * gw
    patches = x[:, prefix:].reshape(B, gh // 2, 2, gw // 2, 2, D)
    y = array_module(x).empty((B, prefix + gh * gw // 4, D), dtype=x.dtype)
    y[:, :prefix] = x[:, :prefix]
    merged = y[:, prefix:].reshape(B, gh // 2, gw // 2, D)
    merged[...] = patches[:, :, 0, :, 0]
    for i, j in ((0, 1), (1, 0), (1, 1)):
        merged += patches[:, :, i, :, j]
    merged *= 0.25  #                                                                        eq. 1
    return y, (x.shape, grid)


def merge_squares_backward(dy: Array, cache: tuple) -> Array:
    """Gradient of merge_squares: dx (B, N, D)."""
    (B, N, D), (gh, gw) = cache
    prefix = N - gh * gw
    dx = array_module(dy).empty((B, N, D), dtype=dy.dtype)
    dx[:, :prefix] = dy[:, :prefix]
    squares = dx[:, prefix:].reshape(B, gh // 2, 2, gw // 2, 2, D)
    squares[...] = (dy[:, prefix:] * 0.25).reshape(B, gh // 2, 1, gw // 2, 1, D)  #          eq. 2
    return dx
