"""Stochastic depth (Huang et al. 2016), forward and backward: dropout of a whole residual branch.

For each image of the batch, the branch is dropped with probability rate; if it is kept, it is scaled up as in
dropout:

    y_b = x_b m_b        m_b = 1 / (1 - rate) or 0, one number for each image b            (1)
    dx_b = dy_b m_b                                                                        (2)
"""

from tinyvit.backend import Array, array_module
from tinyvit.ops.dropout import dropout_backward
from tinyvit.ops.noise import Noise


def drop_path(x: Array, rate: float, noise: Noise | None) -> tuple[Array, Array | None]:
    """Drop the branch x (B, N, D) for whole images at random, with probability rate in [0, 1).

    Without noise (in inference) or at rate 0, x is returned unchanged. Returns y, with the shape and dtype of
    x, and the cache.
    """
    if noise is None or rate == 0:
        return x, None
    keep = noise.uniform((x.shape[0], 1, 1), array_module(x)) >= rate
    mask = keep.astype(x.dtype) * (1 / (1 - rate))  # (B, 1, 1)
    return x * mask, mask  #                                                                 eq. 1


drop_path_backward = dropout_backward  # eq. 2 is the same as for dropout: dy times the mask
