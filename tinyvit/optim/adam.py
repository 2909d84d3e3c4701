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

from tinyvit.backend import Array, array_module
from tinyvit.model.params import Params


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
        w, g = self.params.flat, self._decayed_gradient(grads.flat, lr)
        b1, b2 = self.betas
        self.m *= b1
        self.m += (1 - b1) * g  #                                                            eq. 1
        self.v *= b2
        self.v += (1 - b2) * (g * g)  #                                                      eq. 2
        # eq. 3 and 4, with the two corrections taken out of the arrays into two numbers
        denominator = array_module(w).sqrt(self.v)
        denominator *= 1 / math.sqrt(1 - b2**step)
        denominator += self.eps
        update = self.m / denominator
        update *= lr / (1 - b1**step)
        w -= update

    def _decayed_gradient(self, g: Array, lr: float) -> Array:
        """The gradient with that of the L2 penalty added."""
        if self.weight_decay:
            n = self.params.decayed
            g = g.copy()
            g[:n] += self.weight_decay * self.params.flat[:n]
        return g


class AdamW(Adam):
    """Adam with decoupled weight decay, on the matrices only."""

    def _decayed_gradient(self, g: Array, lr: float) -> Array:
        """The gradient as it is: the decay acts on the parameters themselves."""
        if self.weight_decay:
            self.params.flat[: self.params.decayed] *= 1 - lr * self.weight_decay  #         eq. 5
        return g
