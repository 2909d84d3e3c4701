"""Clipping the gradient to a maximum norm (Pascanu et al. 2013).

    g <- g min(1, largest / (|g| + 1e-6))     |g| = sqrt of the sum of all squares         (1)

The direction is unchanged, but a single bad batch cannot move the parameters far.
"""

import math

import numpy as np

from tinyvit.backend import Array, array_module
from tinyvit.model.params import Params
from tinyvit.optim.spread import ParallelMap, Piece, chunks, one_after_another


def clip_norm(
    grads: Params | Piece,
    largest: float,
    parallel_map: ParallelMap = one_after_another,
) -> Array:
    """Scale all gradients in place so that their joint norm is at most `largest`; infinity means no limit.

    parallel_map carries out the passes over the gradients, as an optimiser's. Returns the norm before
    scaling, an array without axes, so that nothing has to wait for a GPU.
    """
    xp, parts = array_module(grads.flat), chunks(grads.flat)
    squares = parallel_map(lambda part: grads.flat[part] @ grads.flat[part], parts)
    norm = xp.sqrt(sum(squares, start=xp.zeros((), dtype=grads.flat.dtype)))
    if largest == math.inf:
        return norm
    factor = xp.minimum(1, largest / (norm + 1e-6)).astype(grads.flat.dtype)  #              eq. 1

    def scale(part: slice) -> None:
        grads.flat[part] *= factor

    if xp is not np or factor != 1:  # on a GPU, to ask would be to wait for it
        parallel_map(scale, parts)
    return norm
