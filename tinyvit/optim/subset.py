"""An optimiser that trains a subset of the parameters, at rates that may differ, and freezes the rest.

Trained and frozen parameters alternate in the flat buffer. So in each step, the trained ones are copied into
short buffers, one for each rate, an ordinary optimiser updates these, and the results are copied back. The
optimiser is used as it is, and keeps no state for what is frozen.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from math import prod

from tinyvit.backend import Array, array_module
from tinyvit.model.layout import ParamSpec
from tinyvit.model.params import Params
from tinyvit.optim.interface import Optimizer
from tinyvit.optim.spread import ParallelMap, Piece


@dataclass(eq=False)
class Group:
    """Copies of the parameters that share a rate, a factor of the learning rate, and of their gradients."""

    rate: float
    params: Params
    grads: Params
    optimizer: Optimizer


class SubsetOptimizer(Optimizer):
    """Trains a subset, freezes the rest: the parameters whose rate, by name, is 0.

    make(params) returns an optimiser of params. added are parameters outside the model, as LoRA has them.
    """

    def __init__(
        self,
        make: Callable[[Params], Optimizer],
        params: Params,
        rates: Mapping[str, float],
        added: tuple[ParamSpec, ...] = (),
    ):
        self.params = params
        by_rate: dict[float, list[ParamSpec]] = {1.0: list(added)} if added else {}
        for row in params.rows:
            if rate := rates[row.name]:
                by_rate.setdefault(rate, []).append(row)
        sizes = [sum(prod(row.shape) for row in rows) for rows in by_rate.values()]
        values, gradients = (array_module(params.flat).zeros(sum(sizes), params.flat.dtype) for _ in range(2))
        self._gradients, self.groups, start = gradients, [], 0
        for (rate, rows), size in zip(by_rate.items(), sizes, strict=True):
            part = slice(start, start := start + size)
            trained = Params(values[part], tuple(rows))
            self.groups.append(Group(rate, trained, Params(gradients[part], tuple(rows)), make(trained)))

    @property
    def state(self) -> dict[str, Array]:
        """See Optimizer.state."""
        return {
            f"{number}.{name}": array
            for number, group in enumerate(self.groups)
            for name, array in group.optimizer.state.items()
        }

    def set_parallel_map(self, parallel_map: ParallelMap) -> None:
        """See Optimizer.set_parallel_map."""
        for group in self.groups:
            group.optimizer.set_parallel_map(parallel_map)

    def select_grads(self, grads: Params) -> Params | Piece:
        """The gradients of the trained parameters, copied from those of the model."""
        for group in self.groups:
            for name in group.grads.keys() & grads.keys():
                group.grads[name] = grads[name]
        return Piece(self._gradients, 0)

    def step(self, grads: Params, lr: float, step: int) -> None:
        """Update in place, by the gradients that select_grads has copied; step is counted from 1."""
        for group in self.groups:
            names = group.params.keys() & self.params.keys()
            for name in names:
                group.params[name] = self.params[name]
            group.optimizer.step(group.grads, lr * group.rate, step)
            for name in names:
                self.params[name] = group.params[name]

    def summary(self) -> str:
        """The number of parameters that learn, as a sentence."""
        return f"{self._gradients.size:,} numbers learn, and {self.params.count:,} are in the model"
