"""A sign for vectors that are only determined up to it, such as singular vectors and eigenvectors."""

import numpy as np


def signs(columns: np.ndarray) -> np.ndarray:
    """The sign, 1 or -1, of each column (D, n) of vectors: (n,). Of x and -x, one has 1 and the other -1.

    Libraries of linear algebra, and versions of one library, return either x or -x. Multiplied by its sign,
    the vector is the same everywhere. The sign is that of the sum of its numbers, weighted by the square
    roots of 1, 2, ..., since without weights a vector that is odd, as many filters of images are, would add
    up to almost nothing.
    """
    weights = np.sqrt(np.arange(1, len(columns) + 1))
    return np.where(weights @ columns < 0, -1.0, 1.0)
