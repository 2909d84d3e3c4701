"""Rotary positions in an image: by which angles the queries and keys of each patch turn (see ops.rotary).

The patch in row i and column j, of h rows and w columns, has the coordinates

    y = reach (i + offset) / h + shift        x = reach (j + offset) / w + shift           (1)

or, if reach is 0, y = i + offset and x = j + offset. A head of width K has K/4 frequencies for each:

    f_n = theta^(-4 n / K)                    n = 0, ..., K/4 - 1                          (2)
    a = [y f, x f]                            (K/2,)                                       (3)

With a reach, images of any size have the same range of angles. In some models each head learns frequencies of
its own, F0 and F1 (K/2,), and

    a = x F0 + y F1       so that       dF0 = sum of x da,   dF1 = sum of y da             (4)
"""

from __future__ import annotations

import math
from functools import lru_cache, partial
from types import ModuleType

import numpy as np
from numpy.typing import DTypeLike

from tinyvit import ops
from tinyvit.backend import Array, array_module
from tinyvit.model.config import Rotary, ViTConfig
from tinyvit.model.later.part import Part, Place, Specs, Stages, Step
from tinyvit.model.layout import ParamSpec
from tinyvit.model.params import Params
from tinyvit.model.stage import Stage
from tinyvit.ops.rotary import Turn
from tinyvit.support.errors import UserError

DINOV3 = Rotary(100.0, 4 * math.pi, 0.5, -2 * math.pi, pairs=False)  # from -2 pi to 2 pi


def turn_of(config: ViTConfig, params: Params, block: int) -> Turn | None:
    """The rotation of a block's queries and keys; None in a model without rotary positions."""
    rule = config.rotary
    if rule is None:
        return None
    xp, dtype = array_module(params.flat), params.flat.dtype
    if not rule.learned:
        tables = fixed_tables(rule, config.grid, config.head_width, dtype.str)
        cos, sin = (xp.asarray(table) for table in tables)
        return Turn(cos, sin, rule.pairs)
    frequencies = params[f"blocks.{block}.rotary"]  # (2, H, K/2)
    angles = xp.einsum("pt,phf->htf", _plane(config, xp, dtype), frequencies)  #             eq. 4
    return Turn(xp.cos(angles), xp.sin(angles), rule.pairs)


def add_frequencies(config: ViTConfig, dangles: Array, block: int, grads: Params) -> None:
    """Add to grads the gradient of a block's learned frequencies, given that of the angles (H, T, K/2)."""
    if config.rotary and config.rotary.learned:
        xp = array_module(dangles)
        plane = _plane(config, xp, dangles.dtype)
        grads.add(f"blocks.{block}.rotary", xp.einsum("pt,htf->phf", plane, dangles))  #     eq. 4


def first_frequencies(rng: np.random.Generator, shape: tuple[int, ...], theta: float) -> np.ndarray:
    """First values (2, H, K/2) of learned frequencies: directions at random, by head, lengths as in (2)."""
    _, H, half = shape
    length = theta ** (-2 * np.arange(half // 2) / half)  # twice: for two directions at a right angle
    direction = rng.uniform(0, 2 * math.pi, (H, 1)) + np.repeat([0, math.pi / 2], half // 2)
    return np.stack([np.cos(direction), np.sin(direction)]) * np.tile(length, 2)


@lru_cache(maxsize=16)
def fixed_tables(
    rule: Rotary, grid: tuple[int, int], head_width: int, dtype: str
) -> tuple[np.ndarray, np.ndarray]:
    """Cosines and sines (T, K/2) of fixed angles."""
    y, x = _coordinates(rule, grid)
    f = rule.theta ** (-4 * np.arange(head_width // 4) / head_width)  #                      eq. 2
    parts = [y[:, None] * f, x[:, None] * f]
    angles = np.concatenate(parts[::-1] if rule.columns_first else parts, axis=1)  #         eq. 3
    return np.cos(angles).astype(dtype), np.sin(angles).astype(dtype)


def _coordinates(rule: Rotary, grid: tuple[int, int]) -> tuple[np.ndarray, np.ndarray]:
    """y and x of every patch, (T,) each."""
    sides = [np.arange(count) + rule.offset for count in grid]
    if rule.reach:
        sides = [rule.reach * side / count + rule.shift for side, count in zip(sides, grid, strict=True)]
    y, x = np.meshgrid(*sides, indexing="ij")  #                                             eq. 1
    return y.reshape(-1), x.reshape(-1)


def _plane(config: ViTConfig, xp: ModuleType, dtype: DTypeLike) -> Array:
    """x and y of every patch: (2, T)."""
    assert config.rotary
    y, x = _coordinates(config.rotary, config.grid)
    return xp.asarray(np.stack([x, y]).astype(dtype))


def _turned(config: ViTConfig, block: int) -> Stage:
    def forward(params: Params, pair: tuple[Array, Array]) -> tuple:
        turn = turn_of(config, params, block)
        assert turn
        (q, q_cache), (k, k_cache) = (ops.rotary(x, turn) for x in pair)
        return (q, k), (q_cache, k_cache)

    def backward(dpair: tuple[Array, Array], caches: tuple, grads: Params) -> tuple:
        (dq, dangles_q), (dk, dangles_k) = map(ops.rotary_backward, dpair, caches)
        add_frequencies(config, dangles_q + dangles_k, block, grads)
        return dq, dk

    return Stage(f"blocks.{block}.rotary", forward, backward)


def _heads(config: ViTConfig, place: Place, stages: Stages, step: Step) -> Stages:
    assert place.block is not None
    return [*stages, _turned(config, place.block)]


def _specs(config: ViTConfig, place: Place, specs: Specs) -> Specs:
    rule = config.rotary
    if not (rule and rule.learned):
        return specs
    init = partial(first_frequencies, theta=rule.theta)
    return [*specs, ParamSpec(f"{place.prefix}rotary", (2, config.heads, config.head_width // 2), init)]


def _check(config: ViTConfig) -> None:
    if config.rotary is not None and not isinstance(config.rotary, Rotary):
        raise UserError(f"rotary is {config.rotary!r}, expected a model.rotary.Rotary or None.")
    if config.head_width % 4:
        raise UserError(
            f"heads of width {config.head_width} cannot turn with rows and columns: rotary positions need "
            "a multiple of 4."
        )


PART = Part(
    {"rotary": None},
    {"heads": _heads},
    {"block": _specs},
    check=_check,
    known_to={"rotary": "cpu cuda onnx"},
)
