"""The end of a step in a plan: the norm of the gradient, clipping, and the update, as in tinyvit/optim."""

from math import prod

import numpy as np

from tinyvit.engine.cuda.calls import muon
from tinyvit.engine.cuda.calls.optimizer import clip, is_aligned, square_partials, squared_sums, update
from tinyvit.engine.cuda.launch import Buffer, Product
from tinyvit.engine.cuda.plan.draft import Draft
from tinyvit.model import ViTConfig, layout
from tinyvit.model.layout import ParamSpec
from tinyvit.model.params import Params
from tinyvit.optim.muon import STEPS, Part, matrices_of, parts_of, scale


def update_parameters(draft: Draft) -> None:
    """The norm of the gradient, the factor that clips it, and the update of the parameters."""
    how, grads = draft.options.update, draft.arrays["grads"]
    squares = draft.array("squares", square_partials(draft.count), dtype="float32")
    draft.add(squared_sums(grads, squares), "norm of the gradient")
    draft.add(clip(squares, draft.controls, how.clip), "clipping")
    if how.kind != "muon":
        _elementwise(draft, how.kind, slice(0, draft.count), draft.decayed, "")
        return
    for part in parts_of(layout(draft.config)):
        if part.hidden:
            _muon(draft, part)
        else:
            decayed = sum(prod(row.shape) for row in part.rows if row.decays)
            _elementwise(draft, "adamw", part.place, decayed, f"{part.name}.")


def muon_fits(config: ViTConfig) -> bool:
    """True if the kernels can do Muon's update: each of its parts must begin where they can load vectors."""
    return all(is_aligned(part.place.start) for part in parts_of(layout(config)))


def _elementwise(draft: Draft, kind: str, place: slice, decayed: int, state: str) -> None:
    """The update of a part of the parameters by AdamW, Adam or SGD, whose state has names that begin so."""
    how, count = draft.options.update, place.stop - place.start
    params, grads = (draft.arrays[name].view(place.start, count) for name in ("params", "grads"))
    m = draft.outside(f"{state}m", count)
    v = None if kind == "sgd" else draft.outside(f"{state}v", count)
    betas = (how.momentum, 0.0) if kind == "sgd" else how.betas
    launch = update(kind, params, grads, m, v, draft.controls, decayed, betas, how.eps, how.weight_decay)
    draft.add(launch, "update")


def _muon(draft: Draft, part: Part) -> None:
    """The update of hidden matrices by Muon, those of one shape together."""
    how, count = draft.options.update, part.place.stop - part.place.start
    params, grads = (draft.arrays[name].view(part.place.start, count) for name in ("params", "grads"))
    m, directions = draft.outside(f"{part.name}.m", count), draft.array("directions", count, dtype="float32")
    for (A, B), table in _tables(part.rows).items():
        name, n = f"muon.{A}x{B}", len(table)
        of = muon.Matrices(draft.constant(f"{name}.places", table), A, B)
        partials = draft.array(f"{name}.squares", n, of.chunks, dtype="float32")
        buffers = params, grads, m, directions, draft.controls, partials
        draft.add(muon.momentum(of, *buffers, how.momentum, how.weight_decay), "update: momentum")
        x, other = (draft.array(f"{name}.{letter}", n, A, B) for letter in "xy")
        draft.add(muon.normalise(of, directions, partials, x), "update: length 1")
        x = _orthogonalised(draft, x, other, name)
        draft.add(muon.move(of, x, params, draft.controls, scale(B)), "update: matrices")


def _orthogonalised(draft: Draft, x: Buffer, other: Buffer, name: str) -> Buffer:
    """The matrices x (n, A, B), of length 1, after all steps of Newton and Schulz: in x or in the other."""
    n, A, _ = x.shape
    gram, factor = (draft.array(f"{name}.{what}", n, A, A) for what in ("gram", "factor"))
    for _ in range(STEPS):
        draft.add(Product(x, x, gram, transpose_b=True), "update: X X^T")
        draft.add(Product(gram, gram, factor), "update: (X X^T)^2")
        draft.add(muon.polynomial(gram, factor), "update: polynomial")
        draft.add(Product(factor, x, other), "update: polynomial times X")
        x, other = other, x
    return x


def _tables(rows: tuple[ParamSpec, ...]) -> dict[tuple[int, int], np.ndarray]:
    """The places of the matrices of each shape (A, B) in their part of the flat buffer: int32 (n, 3).

    Each row has the place of the first number, and how far the next row and the next column are from it.
    """
    like = Params.zeros(rows, "int8")  # in which a number has one byte: addresses count numbers
    found: dict[tuple[int, int], list[tuple[int, ...]]] = {}
    for row in rows:
        for matrix in matrices_of(like[row.name], row):
            start = matrix.ctypes.data - like.flat.ctypes.data
            found.setdefault(matrix.shape, []).append((start, *matrix.strides))
    return {shape: np.array(table, np.int32) for shape, table in found.items()}
