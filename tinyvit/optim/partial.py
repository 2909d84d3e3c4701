"""An optimiser of some of the parameters, at rates that may differ; the others are frozen.

The flat buffer holds what learns and what does not in turn. So in each step, what learns is copied into short
buffers, one for each rate, an ordinary optimiser moves these, and the results are copied back. The optimiser
needs to know nothing of all this, and keeps no state for what is frozen.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from math import prod
from typing import Any

from tinyvit.backend import Array, array_module
from tinyvit.model.layout import ParamSpec
from tinyvit.model.params import Params
from tinyvit.optim.sharded import Piece
from tinyvit.optim.spread import ParallelMap


@dataclass(eq=False)
class Group:
    """Copies of the parameters that learn at one rate, times the learning rate, and of their gradients."""

    rate: float
    params: Params
    grads: Params
    optimizer: Any


class Partial:
    """An optimiser for the parameters whose rate, by name, is not 0. make(params) is one of params.

    more are parameters that the model does not have: see LoRA.
    """

    def __init__(
        self,
        make: Callable[[Params], Any],
        params: Params,
        rates: Mapping[str, float],
        more: tuple[ParamSpec, ...] = (),
    ):
        self.params = params
        by_rate: dict[float, list[ParamSpec]] = {1.0: list(more)} if more else {}
        for row in params.rows:
            if rate := rates[row.name]:
                by_rate.setdefault(rate, []).append(row)
        sizes = [sum(prod(row.shape) for row in rows) for rows in by_rate.values()]
        values, gradients = (array_module(params.flat).zeros(sum(sizes), params.flat.dtype) for _ in range(2))
        self._gradients, self.groups, start = gradients, [], 0
        for (rate, rows), size in zip(by_rate.items(), sizes, strict=True):
            part = slice(start, start := start + size)
            own = Params(values[part], tuple(rows))
            self.groups.append(Group(rate, own, Params(gradients[part], tuple(rows)), make(own)))

    @property
    def state(self) -> dict[str, Array]:
        """The arrays that a checkpoint must hold, by name; they are live and may be written in place."""
        return {
            f"{number}.{name}": array
            for number, group in enumerate(self.groups)
            for name, array in group.optimizer.state.items()
        }

    def spread_with(self, spread: ParallelMap) -> None:
        """See Adam.spread_with."""
        for group in self.groups:
            if hasattr(group.optimizer, "spread_with"):
                group.optimizer.spread_with(spread)

    def learning(self, grads: Params) -> Piece:
        """The gradients of what learns, copied from those of the model: what is to be clipped."""
        for group in self.groups:
            for name in group.grads.keys() & grads.keys():
                group.grads[name] = grads[name]
        return Piece(self._gradients, 0)

    def step(self, grads: Params, lr: float, step: int) -> None:
        """Update in place, by the gradients that `learning` has copied; step is counted from 1."""
        for group in self.groups:
            own = group.params.keys() & self.params.keys()
            for name in own:
                group.params[name] = self.params[name]
            group.optimizer.step(group.grads, lr * group.rate, step)
            for name in own:
                self.params[name] = group.params[name]

    def summary(self) -> str:
        """How many parameters learn, as a sentence."""
        return f"{self._gradients.size:,} numbers learn, and {self.params.count:,} are in the model"
