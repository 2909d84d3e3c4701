"""Stochastic gradient descent with momentum (Polyak 1964), on the flat parameter buffer.

m <- momentum m + g                                                                    (1)
w <- w - lr m                                                                          (2)
"""

from typing import Any

from tinyvit.backend import Array, array_module
from tinyvit.model.params import Params
from tinyvit.optim.interface import Optimizer


class SGD(Optimizer, kernels="sgd"):
    """SGD with momentum. State: m, one value per parameter."""

    def __init__(self, params: Params, momentum: float = 0.9):
        self.params, self.momentum = params, momentum
        self.m = array_module(params.flat).zeros_like(params.flat)

    @property
    def state(self) -> dict[str, Array]:
        """See Optimizer.state."""
        return {"m": self.m}

    @property
    def hyperparameters(self) -> dict[str, Any]:
        """See Optimizer.hyperparameters."""
        return {"momentum": self.momentum}

    def step(self, grads: Params, lr: float, step: int) -> None:
        """Update the parameters in place. step, counted from 1, is not used by this optimiser."""
        self.m *= self.momentum
        self.m += grads.flat  #                                                              eq. 1
        self.params.flat -= lr * self.m  #                                                   eq. 2
