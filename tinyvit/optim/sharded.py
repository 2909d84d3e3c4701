"""An optimiser whose state is shared out among ranks: stage 1 of ZeRO (Rajbhandari et al. 2020, section 5.1).

AdamW keeps two values for each parameter, as much again as parameters and gradients together, and every rank
would keep the same ones. But an update treats each parameter by itself. So of R ranks each keeps the state of
its part of the flat buffer, one R-th of it, and

    1. gets the sum of the gradients for its part only            (reduce-scatter)
    2. updates its part of the parameters
    3. gets the other parts from the ranks that updated them      (all-gather)

An all-reduce is a reduce-scatter followed by an all-gather: the bytes that are sent are the same.
"""

from collections.abc import Callable
from typing import Any

from tinyvit.backend import Array, array_module
from tinyvit.distributed import Ranks, current
from tinyvit.model.params import Params
from tinyvit.optim.interface import Optimizer
from tinyvit.optim.spread import ParallelMap, Piece


class Sharded(Optimizer):
    """An optimiser that updates only this rank's part.

    make(params) returns an optimiser of params, which must be elementwise (see Optimizer).
    """

    is_sharded = True

    def __init__(self, make: Callable[[Any], Any], params: Params, ranks: Ranks):
        self.params, self.ranks = params, ranks
        self.own = ranks.part(params.count)
        self.inner = make(self.select_grads(params))

    @classmethod
    def of(cls, make: Callable[[Any], Any], params: Params) -> Optimizer:
        """One for the ranks that train now; for a single process, the optimiser itself."""
        return make(params) if current().size == 1 else cls(make, params, current())

    @property
    def state(self) -> dict[str, Array]:
        """The arrays of the state for this rank's part, by name; they are live."""
        return self.inner.state

    def set_parallel_map(self, parallel_map: ParallelMap) -> None:
        """See Optimizer.set_parallel_map."""
        self.inner.set_parallel_map(parallel_map)

    def select_grads(self, grads: Params) -> Piece:
        """This rank's part of the gradients, or of the parameters: a view."""
        decayed = min(max(grads.decayed - self.own.start, 0), self.own.stop - self.own.start)
        return Piece(grads.flat[self.own], decayed)

    def step(self, grads: Params, lr: float, step: int) -> None:
        """Update the parameters, given gradients whose own part is summed over ranks. A collective."""
        self.inner.step(self.select_grads(grads), lr, step)
        self.ranks.all_gather(self.params.flat)

    def whole_state(self) -> dict[str, Array]:
        """The arrays of all ranks, put together, on rank 0; nothing on the others. A collective."""
        state = {}
        for name, part in self.state.items():
            whole = array_module(part).zeros_like(self.params.flat)
            whole[self.own] = part
            self.ranks.all_gather(whole)
            if self.ranks.is_first:
                state[name] = whole
        return state

    def own_state(self, whole: dict[str, Array]) -> dict[str, Array]:
        """This rank's parts of arrays as in whole_state; an array of another length stays as it is."""
        count = self.params.count
        return {name: array[self.own] if array.size == count else array for name, array in whole.items()}

    def summary(self) -> str:
        """How much memory it saves, as a sentence."""
        own = sum(array.nbytes for array in self.state.values())
        whole = own * self.params.count // max(self.own.stop - self.own.start, 1)
        return (
            f"the optimiser's state is shared out: {own / 1e6:.1f} MB in this process instead of "
            f"{whole / 1e6:.1f} MB"
        )
