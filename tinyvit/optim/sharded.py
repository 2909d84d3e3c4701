"""An optimiser whose state is shared out among ranks: stage 1 of ZeRO (Rajbhandari et al. 2020, section 5.1).

AdamW keeps two numbers for each parameter, as much again as parameters and gradients together, and every rank
would keep the same ones. But an update treats each parameter by itself. So of R ranks each keeps the state of
its part of the flat buffer, one R-th of it, and

    1. gets the sum of the gradients for its part only            (reduce-scatter)
    2. updates its part of the parameters
    3. gets the other parts from the ranks that updated them      (all-gather)

An all-reduce is a reduce-scatter followed by an all-gather: the bytes that are sent are the same.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from tinyvit.backend import Array, array_module
from tinyvit.distributed import Ranks, current
from tinyvit.model.params import Params


@dataclass(eq=False)
class Piece:
    """A part of the flat buffer, as an optimiser sees one: its first `decayed` numbers are decayed."""

    flat: Array
    decayed: int

    @property
    def count(self) -> int:
        """How many numbers there are."""
        return self.flat.size


class Sharded:
    """An optimiser that updates only this rank's part. make(params) is an optimiser of params.

    It must treat each number by itself, whatever matrix it belongs to.
    """

    def __init__(self, make: Callable[[Piece], Any], params: Params, ranks: Ranks):
        self.params, self.ranks = params, ranks
        self.own = ranks.part(params.count)
        self.inner = make(self.piece(params))

    @classmethod
    def of(cls, make: Callable[[Any], Any], params: Params) -> Any:
        """One for the ranks that train now; for a single process, the optimiser itself."""
        return make(params) if current().size == 1 else cls(make, params, current())

    @property
    def state(self) -> dict[str, Array]:
        """The arrays of the state for this rank's part, by name; they are live."""
        return self.inner.state

    def piece(self, buffer: Params) -> Piece:
        """This rank's part of the parameters or the gradients: a view."""
        decayed = min(max(buffer.decayed - self.own.start, 0), self.own.stop - self.own.start)
        return Piece(buffer.flat[self.own], decayed)

    def step(self, grads: Params, lr: float, step: int) -> None:
        """Update the parameters, given gradients whose own part is summed over ranks. A collective."""
        self.inner.step(self.piece(grads), lr, step)
        self.ranks.all_gather(self.params.flat)

    def summary(self) -> str:
        """How much memory it saves, as a sentence."""
        own = sum(array.nbytes for array in self.state.values())
        whole = own * self.params.count // max(self.own.stop - self.own.start, 1)
        return (
            f"the optimiser's state is shared out: {own / 1e6:.1f} MB in this process instead of "
            f"{whole / 1e6:.1f} MB"
        )

    def whole_state(self) -> dict[str, Array]:
        """The arrays of all ranks, put together, on rank 0; nothing on the others. A collective."""
        found = {}
        for name, part in self.state.items():
            whole = array_module(part).zeros_like(self.params.flat)
            whole[self.own] = part
            self.ranks.all_gather(whole)
            if self.ranks.is_first:
                found[name] = whole
        return found

    def own_state(self, whole: dict[str, Array]) -> dict[str, Array]:
        """This rank's parts of arrays as in whole_state; an array of another length stays as it is."""
        count = self.params.count
        return {name: array[self.own] if array.size == count else array for name, array in whole.items()}


def whole_state(optimizer: Any) -> dict[str, Array]:
    """The state of an optimiser for a checkpoint that rank 0 writes. A collective."""
    return optimizer.whole_state() if isinstance(optimizer, Sharded) else optimizer.state
