"""Causal attention: a token attends to itself and to the tokens before it, as in the text tower of CLIP."""

import numpy as np

from tinyvit.backend import Array, array_module
from tinyvit.model.config import ViTConfig
from tinyvit.model.later.part import Part, Place, Stages, Step
from tinyvit.model.params import Params
from tinyvit.model.stage import Stage
from tinyvit.support.errors import UserError


def _forward(params: Params, pair: tuple[Array, Array]) -> tuple:
    q, S = pair
    xp, (Q, N) = array_module(S), S.shape[2:]
    return (q, S + xp.triu(xp.full((Q, N), -np.inf, dtype=S.dtype), 1)), None


def _backward(dpair: tuple, cache: None, grads: Params) -> tuple:
    return dpair


def _mask(config: ViTConfig, place: Place, stages: Stages, step: Step) -> Stages:
    return [*stages, Stage("causal", _forward, _backward)]


def _check(config: ViTConfig) -> None:
    if config.pool != "mean":
        raise UserError(f"pool is {config.pool!r}, expected 'mean' in a causal model.")


PART = Part({"causal": False}, {"scores": _mask}, check=_check)
