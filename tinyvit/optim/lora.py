"""LoRA (Hu et al. 2021): a matrix learns by the product of two thin ones.

A matrix W (I, O) of published weights stays as it is. What it learns has rank r at most:

    W' = W + s A B          A (I, r)      B (r, O)      s = alpha / r                      (1)

A begins at random and B at 0, so that W' begins as W. Backward. The model computes with W', and its backward
pass finds dW' as ever. By the chain rule through (1), which is a product of matrices like any other,

    dA = s dW' B^T          dB = s A^T dW'                                                 (2)

At first B is 0, so dA is, and B moves first. (2) is not the cheapest way: x A B instead of x W' would spare
dW'. But this way the model, its engines and the files that it is saved in know nothing of LoRA: what they see
is W', merged in every step. What is spared is the memory of the optimiser.

The matrices are those for queries, keys, values and outputs of each attention.
"""

from collections.abc import Callable, Iterable, Mapping
from math import sqrt

import numpy as np

from tinyvit.backend import Array, array_module
from tinyvit.model.layout import ParamSpec
from tinyvit.model.params import Params
from tinyvit.optim.interface import Optimizer
from tinyvit.optim.spread import Piece
from tinyvit.optim.subset import SubsetOptimizer
from tinyvit.support.errors import UserError


class LoRA(SubsetOptimizer):
    """LoRA of this rank for what is frozen in the attention of each block; the rest learns by its rates.

    make and rates are as for SubsetOptimizer. The seed draws A, uniformly within 1 / sqrt(I), as its
    authors do.
    """

    def __init__(
        self,
        make: Callable[[Params], Optimizer],
        params: Params,
        rates: Mapping[str, float],
        rank: int,
        alpha: float,
        seed: int,
    ):
        self._maps = [_Map(row, n) for row in params.rows for n in range(_maps_of(row, rates))]
        super().__init__(make, params, rates, tuple(row for each in self._maps for row in each.rows(rank)))
        self.scale, rng = alpha / rank, np.random.Generator(np.random.Philox(seed))
        self._factors = next(group for group in self.groups if group.rate == 1)
        xp = array_module(params.flat)
        for each in self._maps:
            a = self._factors.params[each.a]
            a[...] = xp.asarray(rng.uniform(-1, 1, a.shape) / sqrt(a.shape[0]))
        self._start = xp.concatenate([each.of(params).ravel() for each in self._maps])

    @property
    def state(self) -> dict[str, Array]:
        """See Optimizer.state; A and B, and the matrices that they are added to, have to be kept too."""
        factors = {name: self._factors.params[name] for each in self._maps for name in (each.a, each.b)}
        return super().state | factors | {"start": self._start}

    def select_grads(self, grads: Params) -> Params | Piece:
        """See SubsetOptimizer.select_grads."""
        values, gradients = self._factors.params, self._factors.grads
        for each in self._maps:
            dw, a, b = each.of(grads), values[each.a], values[each.b]  # (I, O), (I, r), (r, O)
            gradients[each.a] = self.scale * (dw @ b.T)  #                                   eq. 2
            gradients[each.b] = self.scale * (a.T @ dw)
        return super().select_grads(grads)

    def step(self, grads: Params, lr: float, step: int) -> None:
        """See SubsetOptimizer.step."""
        super().step(grads, lr, step)
        values, start = self._factors.params, 0
        for each in self._maps:
            w = each.of(self.params)
            before = self._start[start : (start := start + w.size)].reshape(w.shape)
            w[...] = before + self.scale * (values[each.a] @ values[each.b])  #              eq. 1


def check_rank(rows: Iterable[ParamSpec], rates: Mapping[str, float], rank: int) -> None:
    """Raise UserError if LoRA of this rank has no matrix to learn, or more values to learn than a matrix."""
    maps = [_Map(row, 0) for row in rows if _maps_of(row, rates)]
    if not maps:
        raise UserError(
            "LoRA is for attention that is frozen, and all of it would learn: omit --lora, or freeze blocks "
            "with --freeze."
        )
    most = min(min(each.inputs, each.outputs) for each in maps)
    if rank > most:
        raise UserError(
            f"--lora {rank:,} is more than the rank of the matrices, which is {most:,} at most: give a "
            "smaller one (4 to 16 is usual), or omit --lora to let all of them learn."
        )


class _Map:
    """One linear map of a parameter that holds several side by side, as that of q, k and v."""

    def __init__(self, row: ParamSpec, number: int):
        self.row, (self.inputs, outputs) = row, row.shape
        self.outputs = outputs // len(row.official)
        self.columns = slice(number * self.outputs, (number + 1) * self.outputs)
        self.a, self.b = (f"{row.name}.{number}.{factor}" for factor in "ab")

    def rows(self, rank: int) -> tuple[ParamSpec, ParamSpec]:
        """The rows of A and B in a table of parameters."""
        a, b = (
            ParamSpec(self.a, (self.inputs, rank), decays=True),
            ParamSpec(self.b, (rank, self.outputs), decays=True),
        )
        return a, b

    def of(self, params: Params) -> Array:
        """The map, a view (I, O)."""
        return params[self.row.name][:, self.columns]


def _maps_of(row: ParamSpec, rates: Mapping[str, float]) -> int:
    """Number of maps of a parameter that learn by LoRA: all or none."""
    is_attention = row.name.startswith("blocks.") and ".attn." in row.name and row.hidden
    return len(row.official) if is_attention and not rates[row.name] else 0
