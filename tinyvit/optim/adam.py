"""Adam (Kingma and Ba 2015) and AdamW (Loshchilov and Hutter 2019), on the flat parameter buffer.

At step t, counted from 1, with gradient g:

    m <- b1 m + (1 - b1) g                          running mean of the gradient           (1)
    v <- b2 v + (1 - b2) g^2                        and of its square                      (2)
    m' = m / (1 - b1^t)      v' = v / (1 - b2^t)    both start at 0: undo that bias        (3)
    w <- w - lr m' / (sqrt(v') + eps)                                                      (4)

Weight decay. Adam, as first used with an L2 penalty, adds decay * w to g: the penalty is then divided by
sqrt(v'), so that weights with large gradients hardly decay. AdamW takes it out of the gradient:

    w <- w - lr decay w      before (4)                                                    (5)

Both decay matrices only, which lie at the start of the buffer.
"""

from __future__ import annotations

import math
from itertools import pairwise

import numpy as np

from tinyvit.backend import Array, array_module
from tinyvit.model.params import Params

_CHUNK = 1 << 15  # numbers: m, v, w, g and what is computed of them fit a core's cache


class Adam:
    """Adam; weight_decay is an L2 penalty on the matrices. State: m and v, two numbers for each parameter."""

    def __init__(
        self,
        params: Params,
        betas: tuple[float, float] = (0.9, 0.999),
        eps: float = 1e-8,
        weight_decay: float = 0.0,
    ):
        self.params, self.betas, self.eps, self.weight_decay = params, betas, eps, weight_decay
        xp = array_module(params.flat)
        self.m = xp.zeros_like(params.flat)
        self.v = xp.zeros_like(params.flat)

    @property
    def state(self) -> dict[str, Array]:
        """What a checkpoint has to hold, by name: the live arrays, to be copied from or written into."""
        return {"m": self.m, "v": self.v}

    def step(self, grads: Params, lr: float, step: int) -> None:
        """Update the parameters in place; step is t of equation 3, counted from 1."""
        b1, b2 = self.betas
        # eq. 3 taken out of the arrays: lr m' / (sqrt(v') + eps) with the two corrections as two numbers
        rate, root_correction = lr / (1 - b1**step), 1 / math.sqrt(1 - b2**step)
        for part in chunks(self.params):
            w, m, v = self.params.flat[part], self.m[part], self.v[part]
            decays = part.start < self.params.decayed and self.weight_decay != 0
            g = self._decay(w, grads.flat[part], lr) if decays else grads.flat[part]
            m *= b1
            m += (1 - b1) * g  #                                                             eq. 1
            v *= b2
            v += (1 - b2) * (g * g)  #                                                       eq. 2
            denominator = array_module(w).sqrt(v)
            denominator *= root_correction
            denominator += self.eps
            update = m / denominator
            update *= rate
            w -= update  #                                                                   eq. 4

    def _decay(self, w: Array, g: Array, lr: float) -> Array:
        """The gradient with that of the L2 penalty added."""
        return g + self.weight_decay * w


class AdamW(Adam):
    """Adam with decoupled weight decay, on the matrices only."""

    def _decay(self, w: Array, g: Array, lr: float) -> Array:
        """The gradient as it is: the decay acts on the parameters themselves."""
        w *= 1 - lr * self.weight_decay  #                                                   eq. 5
        return g


def chunks(params: Params) -> list[slice]:
    """The buffer in pieces, none of them half decayed: on a CPU so short that an update stays in the cache.

    Ten operations on a long buffer are ten trips to memory; on a short piece they are one. A GPU has no use
    for that: there it is two pieces.
    """
    size = _CHUNK if array_module(params.flat) is np else params.count
    cuts = [*range(0, params.decayed, size), *range(params.decayed, params.count, size), params.count]
    return [slice(start, stop) for start, stop in pairwise(cuts)]
