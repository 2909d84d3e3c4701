"""Adam (Kingma and Ba 2015) and AdamW (Loshchilov and Hutter 2019), on the flat parameter buffer.

At step t, counted from 1, with gradient g:

    m <- b1 m + (1 - b1) g                          running mean of the gradient           (1)
    v <- b2 v + (1 - b2) g^2                        and of its square                      (2)
    m' = m / (1 - b1^t)      v' = v / (1 - b2^t)    correct the bias of starting at 0      (3)
    w <- w - lr m' / (sqrt(v') + eps)                                                      (4)

Weight decay. Adam with an L2 penalty adds decay * w to g. The penalty is then divided by sqrt(v'), so weights
with large gradients hardly decay, and those with small ones do little else. AdamW decouples the decay from
the gradient:

    w <- w - lr decay w      before (4)                                                    (5)

Both apply decay only to matrices, which are at the start of the buffer.
"""

import math
from typing import Any

from tinyvit.backend import Array, array_module
from tinyvit.model.params import Params
from tinyvit.optim.interface import Optimizer
from tinyvit.optim.spread import ParallelMap, chunks, one_after_another


class Adam(Optimizer, kernels="adam"):
    """Adam; weight_decay is an L2 penalty on the matrices. State: m and v, two values per parameter."""

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
        self.parallel_map: ParallelMap = one_after_another

    @property
    def state(self) -> dict[str, Array]:
        """See Optimizer.state."""
        return {"m": self.m, "v": self.v}

    @property
    def hyperparameters(self) -> dict[str, Any]:
        """See Optimizer.hyperparameters."""
        return {"betas": self.betas, "eps": self.eps, "weight_decay": self.weight_decay}

    def set_parallel_map(self, parallel_map: ParallelMap) -> None:
        """See Optimizer.set_parallel_map."""
        self.parallel_map = parallel_map

    def step(self, grads: Params, lr: float, step: int) -> None:
        """Update the parameters in place; step is t of equation 3, counted from 1."""
        b1, b2 = self.betas
        rate, root_correction = corrections(self.betas, lr, step)

        def update(part: slice) -> None:
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
            change = m / denominator
            change *= rate
            w -= change  #                                                                   eq. 4

        self.parallel_map(update, chunks(self.params.flat, self.params.decayed))

    def _decay(self, w: Array, g: Array, lr: float) -> Array:
        """The gradient plus that of the L2 penalty."""
        return g + self.weight_decay * w


class AdamW(Adam, kernels="adamw"):
    """Adam with decoupled weight decay, which acts only on the matrices."""

    def _decay(self, w: Array, g: Array, lr: float) -> Array:
        """The gradient unchanged; the decay acts on the parameters themselves."""
        w *= 1 - lr * self.weight_decay  #                                                   eq. 5
        return g


def corrections(betas: tuple[float, float], lr: float, step: int) -> tuple[float, float]:
    """Equation 3 as factors of m and of the root of v, so that it is applied to two scalars, not to arrays.

    Equation 4 is then w <- w - rate m / (root_correction sqrt(v) + eps).
    """
    b1, b2 = betas
    return lr / (1 - b1**step), 1 / math.sqrt(1 - b2**step)
