"""Clipping the gradient to a maximum norm (Pascanu et al. 2013).

    g <- g min(1, largest / (|g| + 1e-6))     |g| = sqrt of the sum of all squares         (1)

The direction is unchanged, but a single bad batch cannot move the parameters far.
"""

from __future__ import annotations

import math
from collections.abc import Callable

from tinyvit.backend import Array, array_module
from tinyvit.model.params import Params
from tinyvit.optim.sharded import Piece


def clip_norm(
    grads: Params | Piece, largest: float, total: Callable[[Array], Array] = lambda part: part
) -> Array:
    """Scale all gradients in place so that their joint norm is at most `largest`; infinity means no limit.

    If grads are a part of all gradients, total(squares of the part) are the squares of all. Returns the norm
    before scaling, an array without axes, so that nothing has to wait for a GPU.
    """
    xp = array_module(grads.flat)
    norm = xp.sqrt(total(grads.flat @ grads.flat))
    if largest < math.inf:
        grads.flat *= xp.minimum(1, largest / (norm + 1e-6)).astype(grads.flat.dtype)  #         eq. 1
    return norm
