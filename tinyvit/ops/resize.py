"""Resizing images with a matrix on each side: R turns n rows into m, and S does the same for columns.

    y_ik = sum over j, l of R_ij S_kl x_jl                in each channel                  (1)

Row i of a matrix holds the weights of the old values in new value i. New value i is read at position t_i:

    corners     t_i = i (n - 1) / (m - 1)                 the ends stay in place           (2)
    bilinear    t_i = (i + 1/2) n / m - 1/2               cell centres match               (3)

Between two old values, the result is interpolated linearly. With j = floor(t_i) and f = t_i - j,

    y_i = (1 - f) x_j + f x_(j+1)                                                          (4)

Two other methods read at (3) too, with a cubic kernel over four neighbours (Keys 1981):

    bicubic     a = -3/4
    antialias   a = -1/2; if m < n, the kernel is n / m times as wide

When m is much smaller than n, only 'antialias' averages over all old values. The others are meant for
enlarging, or for slight reductions.
"""

import numpy as np

from tinyvit.backend import Array, array_module

METHODS = ("corners", "bilinear", "bicubic", "antialias")


def resize_matrix(n: int, m: int, method: str) -> np.ndarray:
    """The matrix (m, n), float64, that resizes a row of n values to m; each row of it sums to 1.

    Raises ValueError if method is not one of METHODS.
    """
    if method not in METHODS:
        raise ValueError(f"the method of resizing is {method!r}, expected one of {', '.join(METHODS)}")
    if n == m:
        return np.eye(n)
    corners = np.linspace(0, n - 1, m)  # a single value is read at the first corner         eq. 2
    centres = (np.arange(m) + 0.5) * n / m - 0.5  #                                          eq. 3
    at = corners if method == "corners" else centres
    if method == "antialias":  # values beyond the border do not exist; the others share their weight
        matrix = _cubic((at[:, None] - np.arange(n)) / max(n / m, 1), -0.5)
        return matrix / matrix.sum(axis=1, keepdims=True)
    kernel, reach = (_cubic, 2) if method == "bicubic" else (_linear, 1)
    matrix = np.zeros((m, n))
    base = np.floor(at).astype(int)
    for offset in range(1 - reach, reach + 1):
        place = base + offset  # beyond the border, the outermost value is repeated
        np.add.at(matrix, (np.arange(m), place.clip(0, n - 1)), kernel(at - place))
    return matrix


def resize_images(images: Array, size: tuple[int, int], method: str = "bilinear") -> Array:
    """Resize floating-point images (B, H, W, C) to size (height, width); returns (B, height, width, C)."""
    B, H, W, C = images.shape
    if size == (H, W):
        return images
    xp, dtype = array_module(images), images.dtype
    down = xp.asarray(resize_matrix(H, size[0], method), dtype=dtype)  # (height, H)
    across = xp.asarray(resize_matrix(W, size[1], method), dtype=dtype)  # (width, W)
    tall = down @ images.reshape(B, H, W * C)  # (B, height, W C)
    return across @ tall.reshape(B, size[0], W, C)  # (B, height, width, C)                  eq. 1


def _linear(x: np.ndarray) -> np.ndarray:
    return 1 - np.abs(x)  # for -1 <= x <= 1                                                 eq. 4


def _cubic(x: np.ndarray, a: float = -0.75) -> np.ndarray:
    x = np.abs(x)
    near = ((a + 2) * x - (a + 3)) * x * x + 1
    far = a * (((x - 5) * x + 8) * x - 4)
    return np.where(x <= 1, near, np.where(x < 2, far, 0.0))
