"""Muon (Jordan et al. 2024): momentum, made orthogonal, for the matrices inside the blocks.

For a matrix w (A, B) with gradient g, at every step:

    m <- mu m + (1 - mu) g                          running mean of the gradient           (1)
    u = mu m + (1 - mu) g                           one step ahead of it (Nesterov)        (2)
    w <- w - lr decay w                             decoupled decay, as in AdamW           (3)
    w <- w - lr 0.2 sqrt(max(A, B)) orthogonalise(u)                                       (4)

Only the direction of u has an effect, not its length (unless it is nearly 0).

The factor in (4). An orthogonal matrix has min(A, B) singular values of 1, so its A B entries have a sum of
squares of min(A, B), and a root mean square of 1 / sqrt(max(A, B)). That of an update of AdamW is about
0.2 lr. With the factor both are equal, and one learning rate and one weight decay serve all parameters (Liu
et al. 2025, *Muon is scalable for LLM training*, section 2.2).

All this is about linear maps from token to token. The embedding of the patches, the head, kernels of
convolutions and all vectors are left to AdamW. q, k and v are three maps, side by side in one array.

Why this direction. Let G (A, B) be the gradient of a matrix, U S V^T its singular value decomposition. A
change by -X lowers the loss by <G, X>, the sum of all products of entries, to first order. How large may X
be? A token x is moved by x X, at most by |x| |X|, where |X| is the spectral norm, the largest singular value.
Of all X with |X| <= 1,

    <G, X> = sum_i S_i u_i^T X v_i <= sum_i S_i      with equality for X = U V^T                         (5)

so U V^T is the direction of steepest descent if the size of a change is how far it can move a token
(Bernstein and Newhouse 2024, *Old optimizer, new norm*). It is G with every singular value replaced by 1: a
direction that few images ask for is followed as far as one that all ask for.

A decomposition is slow; products are not. An odd polynomial of a matrix acts on its singular values alone
(Newton-Schulz):

    X X^T X = U S^3 V^T,  so  a X + (b X X^T + c (X X^T)^2) X = U (a S + b S^3 + c S^5) V^T               (6)

Start from X = G / |G|_F: no singular value is above 1. With a, b, c = 3.4445, -4.7750, 2.0315 (Jordan 2024,
*Muon*), a small one becomes 3.4 times as large in each step, and five steps bring all that were above 0.0015
to between 0.68 and 1.21. They never converge to 1: that is the price of growing so fast, and training does
not mind. X X^T (A, A) is the smaller the fewer rows there are, so a tall matrix is transposed first.
"""

from collections import defaultdict
from collections.abc import Iterable
from functools import partial
from itertools import groupby
from math import prod, sqrt
from typing import Any, NamedTuple

import numpy as np

from tinyvit.backend import Array, array_module
from tinyvit.model.layout import ParamSpec
from tinyvit.model.params import Params, places
from tinyvit.optim.adam import AdamW
from tinyvit.optim.interface import Optimizer
from tinyvit.optim.spread import ParallelMap, chunks, one_after_another

_PIECE_BYTES = 1 << 18  # of matrices orthogonalised together, so that all of them stay in a core's cache
_RMS = 0.2  # of an update of AdamW, in learning rates
STEPS = 5
POLYNOMIAL = _A, _B, _C = 3.4445, -4.7750, 2.0315
LEAST_NORM = 1e-7  # a matrix of zeros stays one


def orthogonalise(matrices: Array, steps: int = STEPS) -> Array:
    """A stack (n, A, B) of matrices, the singular values of each brought close to 1; the same dtype.

    A matrix of rank r keeps its rank: its zero singular values stay 0.
    """
    xp = array_module(matrices)
    is_tall = matrices.shape[1] > matrices.shape[2]
    x = matrices.swapaxes(1, 2) if is_tall else matrices  # (n, A, B) with A <= B
    norm = xp.sqrt((x * x).sum(axis=(1, 2), keepdims=True))  # (n, 1, 1)
    x = x / xp.maximum(norm, LEAST_NORM)
    for _ in range(steps):  # eq. 6
        gram = x @ x.swapaxes(1, 2)  # (n, A, A)
        factor = gram @ gram
        factor *= _C
        gram *= _B
        factor += gram
        change = factor @ x
        x *= _A
        x += change
    return x.swapaxes(1, 2) if is_tall else x


class Part(NamedTuple):
    """Parameters side by side in the flat buffer: all hidden matrices, for Muon, or none, for AdamW.

    name is that of the part's state in a checkpoint.
    """

    name: str
    hidden: bool
    place: slice
    rows: tuple[ParamSpec, ...]


def parts_of(rows: tuple[ParamSpec, ...]) -> list[Part]:
    """The parts of the flat buffer of a table of parameters, in order: hidden matrices, and all others."""
    by_name, start = {row.name: row for row in rows}, 0
    parts: list[Part] = []
    for hidden, names in groupby(places(rows), key=lambda name: by_name[name].hidden):
        own = tuple(by_name[name] for name in names)
        stop = start + sum(prod(row.shape) for row in own)
        name = f"{len(parts)}.{'muon' if hidden else 'adamw'}"
        parts.append(Part(name, hidden, slice(start, stop), own))
        start = stop
    return parts


class Muon(Optimizer, kernels="muon"):
    """Muon for the hidden matrices (see model.layout), and AdamW for all other parameters.

    State: one value for each parameter of a hidden matrix, two for each other one.
    """

    def __init__(self, params: Params, momentum: float = 0.95, weight_decay: float = 0.0):
        self.momentum, self.weight_decay = momentum, weight_decay
        self._parts: dict[str, tuple[slice, AdamW | _Matrices]] = {}
        for part in parts_of(params.rows):
            own = Params(params.flat[part.place], part.rows)
            if part.hidden:
                self._parts[part.name] = part.place, _Matrices(own, momentum, weight_decay)
            else:
                self._parts[part.name] = part.place, AdamW(own, weight_decay=weight_decay)

    @property
    def state(self) -> dict[str, Array]:
        """See Optimizer.state."""
        return {
            f"{part}.{name}": array
            for part, (_, optimizer) in self._parts.items()
            for name, array in optimizer.state.items()
        }

    @property
    def hyperparameters(self) -> dict[str, Any]:
        """See Optimizer.hyperparameters; those of its AdamW are the defaults."""
        return {"momentum": self.momentum, "weight_decay": self.weight_decay}

    def set_parallel_map(self, parallel_map: ParallelMap) -> None:
        """See Optimizer.set_parallel_map."""
        for _, optimizer in self._parts.values():
            optimizer.parallel_map = parallel_map

    def step(self, grads: Params, lr: float, step: int) -> None:
        """Update the parameters in place; step is counted from 1."""
        for part, optimizer in self._parts.values():
            optimizer.step(Params(grads.flat[part], optimizer.params.rows), lr, step)


class _Piece(NamedTuple):
    """Matrices of one shape, as views (A, B) of their weights and of their directions u."""

    weights: list[Array]
    directions: list[Array]


class _Matrices:
    """Muon for parameters that are all matrices, in pieces: on a GPU, one for all matrices of a shape."""

    def __init__(self, params: Params, momentum: float, weight_decay: float):
        self.params, self.momentum, self.weight_decay = params, momentum, weight_decay
        self.parallel_map: ParallelMap = one_after_another
        self.m = array_module(params.flat).zeros_like(params.flat)
        self._directions = params.zeros_like()
        self._pieces = list(_pieces(params, self._directions))

    @property
    def state(self) -> dict[str, Array]:
        """See Muon.state."""
        return {"m": self.m}

    def step(self, grads: Params, lr: float, step: int) -> None:
        """See Muon.step; the number of the step is not used."""
        for part in chunks(self.params.flat):
            w, m, u = self.params.flat[part], self.m[part], self._directions.flat[part]
            g = (1 - self.momentum) * grads.flat[part]
            m *= self.momentum
            m += g  #                                                                        eq. 1
            u[...] = m
            u *= self.momentum
            u += g  #                                                                        eq. 2
            w *= 1 - lr * self.weight_decay  #                                               eq. 3
        self.parallel_map(partial(_move, lr), self._pieces)


def _move(lr: float, piece: _Piece) -> None:
    """Equation 4 for the matrices of a piece."""
    update = orthogonalise(array_module(piece.directions[0]).stack(piece.directions))  # (n, A, B)
    update *= lr * scale(update.shape[2])
    for weights, change in zip(piece.weights, update, strict=True):
        weights -= change


def scale(longer: int) -> float:
    """The factor of equation 4 for matrices whose longer side has this length."""
    return _RMS * sqrt(longer)


def _pieces(params: Params, directions: Params) -> Iterable[_Piece]:
    """All matrices, those of one shape together; on a CPU, only as many as the cache holds."""
    by_shape = defaultdict(list)
    for row in params.rows:
        both = (matrices_of(array[row.name], row) for array in (params, directions))
        for weights, direction in zip(*both, strict=True):
            by_shape[weights.shape].append((weights, direction))
    for (A, B), found in by_shape.items():
        fitting = max(1, _PIECE_BYTES // (A * B * params.flat.itemsize))
        size = fitting if array_module(params.flat) is np else len(found)
        for start in range(0, len(found), size):
            yield _Piece(*map(list, zip(*found[start : start + size], strict=True)))


def matrices_of(array: Array, row: ParamSpec) -> list[Array]:
    """Views (A, B), A <= B, of the matrices that lie side by side in a parameter, such as q, k and v."""
    A, B = array.shape[0], array.shape[1] // max(1, len(row.official))
    views = [array[:, start : start + B] for start in range(0, array.shape[1], B)]
    return [view if A <= B else view.T for view in views]
