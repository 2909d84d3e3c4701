"""The interface of an optimiser: all that engines and checkpoints use of one.

An optimiser of your own inherits from Optimizer and defines `state` and `step`:

    class SignDescent(Optimizer):
        def __init__(self, params):
            self.params, self.m = params, params.zeros_like().flat

        @property
        def state(self):
            return {"m": self.m}

        def step(self, grads, lr, step):
            self.m[...] = 0.9 * self.m + 0.1 * grads.flat
            self.params.flat[...] -= lr * numpy.sign(self.m)
"""

from abc import abstractmethod
from typing import Any, ClassVar, Protocol

from tinyvit.backend import Array
from tinyvit.model.params import Params
from tinyvit.optim.spread import ParallelMap, Piece


class Optimizer(Protocol):
    """An optimiser of parameters. All members but `state` and `step` have a default for ordinary ones.

    kernels names the CUDA kernels for its step: adamw, adam, sgd or muon. A class names its own, as in
    `class Adam(Optimizer, kernels="adam")`, and does not inherit any, as it may take another step. With None,
    the step runs array by array.
    """

    kernels: ClassVar[str | None] = None

    def __init_subclass__(cls, kernels: str | None = None, **others: Any) -> None:
        super().__init_subclass__(**others)
        cls.kernels = kernels

    @property
    @abstractmethod
    def state(self) -> dict[str, Array]:
        """The arrays that a checkpoint must hold, by name; they are live and may be written in place."""

    @abstractmethod
    def step(self, grads: Params, lr: float, step: int) -> None:
        """Update the parameters in place, after select_grads; step is counted from 1."""

    @property
    def hyperparameters(self) -> dict[str, Any]:
        """The values that the kernels need, named as in engine.cuda.plan.Update."""
        return {}

    def set_parallel_map(self, parallel_map: ParallelMap) -> None:
        """Have parallel_map(work, pieces) carry out the independent pieces of a step, on several threads."""
        return

    def select_grads(self, grads: Params) -> Params | Piece:
        """The gradients that this optimiser learns from, which are clipped in place before each step."""
        return grads

    def summary(self) -> str:
        """One line for the user about parameters frozen; empty for an ordinary optimiser."""
        return ""
