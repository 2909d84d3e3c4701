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

Work on flat buffers is cut into independent pieces; these are carried out one after another, or by the
threads of an engine.
"""

from abc import abstractmethod
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, ClassVar, Protocol

import numpy as np

from tinyvit.backend import Array, array_module
from tinyvit.model.params import Params

Work = Callable[[Any], Any]
ParallelMap = Callable[[Work, Iterable], list]

_CHUNK = 1 << 17  # numbers: few enough for the caches, and enough that threads seldom wait for each other


@dataclass(eq=False)
class Piece:
    """A part of a flat buffer; its first `decayed` values are subject to weight decay."""

    flat: Array
    decayed: int

    @property
    def count(self) -> int:
        """Number of values."""
        return self.flat.size


def one_after_another(work: Work, pieces: Iterable) -> list:
    """work(piece) for all pieces, in order."""
    return [work(piece) for piece in pieces]


def chunks(flat: Array, decayed: int = 0) -> list[slice]:
    """A flat buffer in pieces; on a CPU, short enough to stay in the cache.

    The first `decayed` values decay. A piece is cut where they end, so that each lies wholly among them or
    wholly outside.

    Ten operations on a long buffer take ten trips to memory; on a short piece they take one. A GPU does not
    benefit from this, so there are at most two pieces.
    """
    size = _CHUNK if array_module(flat) is np else max(flat.size, 1)
    cuts = [*range(0, decayed, size), *range(decayed, flat.size, size), flat.size]
    return [slice(start, stop) for start, stop in pairwise(cuts)]


class Optimizer(Protocol):
    """An optimiser of parameters. All members but `state` and `step` have a default for ordinary ones.

    kernels names the CUDA kernels for its step: adamw, adam, sgd or muon. A class names its own, as in
    `class Adam(Optimizer, kernels="adam")`, and does not inherit any, as it may take another step. With None,
    the step runs array by array.
    """

    kernels: ClassVar[str | None] = None

    def __init_subclass__(cls, kernels: str | None = None, **others: Any):
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
