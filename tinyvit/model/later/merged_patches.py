"""Merged patches: before one of the blocks, each square of 2 x 2 patches becomes one token, their mean.

The blocks from there on have a quarter of the patches to compute, as the later stages of a convolutional
network have of its positions. (Swin joins the four tokens and shortens them by a matrix: Liu et al. 2021,
section 3.1. A mean needs no parameters, and the width stays the same.)
"""

from types import ModuleType

from tinyvit import ops
from tinyvit.backend import Array, array_module
from tinyvit.model.config import ViTConfig
from tinyvit.model.later.part import Part, Place, Stages, Step
from tinyvit.model.stage import stage
from tinyvit.support.errors import UserError


def _block(config: ViTConfig, place: Place, stages: Stages, step: Step) -> Stages:
    if place.block != config.merge_after:
        return stages
    merging = stage("merged_patches", ops.merge_squares, ops.merge_squares_backward, config.grid)
    return [*stages, merging]


def _check(config: ViTConfig) -> None:
    name, (gh, gw) = f"merge_after is {config.merge_after}", config.grid
    if config.merge_after >= config.layers:
        raise UserError(f"{name}, expected fewer than the {config.layers} blocks, or 0 to merge none.")
    if gh % 2 or gw % 2:
        raise UserError(
            f"{name}, but {gh} x {gw} patches cannot be merged in squares of 2 x 2: expected 0, or "
            f"images whose sides are multiples of {2 * config.pixels_per_patch} pixels."
        )
    if config.patches_stay:
        raise UserError(
            f"{name}, expected 0: a model that predicts patches, is causal, or has positions in its blocks "
            "cannot merge patches."
        )


def over_patches(config: ViTConfig, A: Array) -> Array:
    """Attention (..., Q, N), or that among merged tokens, as attention to all tokens (..., Q, N).

    Each of four merged patches draws what their token draws, and a quarter of what is drawn from it. All
    tokens are queries, or the class token alone.
    """
    if A.shape[-1] == config.tokens:
        return A
    tokens, all_are_queries = _tokens(config, array_module(A)), A.shape[-2] == A.shape[-1]
    A = A[..., tokens]
    A[..., config.prefix :] *= 0.25
    return A[..., tokens, :] if all_are_queries else A


def pooled_over_patches(config: ViTConfig, drawn: Array) -> Array:
    """What attention pooling draws from each patch (..., T), from what it draws from all tokens it reads.

    These end with the patches. From each of four merged ones it draws a quarter of what their token gives.
    """
    left = config.tokens_of(config.layers - 1) - config.prefix
    drawn = drawn[..., -left:]
    if left == config.patches:
        return drawn
    return drawn[..., _tokens(config, array_module(drawn))[config.prefix :] - config.prefix] * 0.25


def as_all_tokens(config: ViTConfig, x: Array) -> Array:
    """Tokens between two blocks as all tokens (B, N, D): each of four merged patches has their token."""
    return x if x.shape[1] == config.tokens else x[:, _tokens(config, array_module(x))]


def _tokens(config: ViTConfig, xp: ModuleType) -> Array:
    """Of each token (N,), the number that it has once patches are merged: four of them have the same."""
    prefix, (gh, gw) = config.prefix, config.grid
    squares = xp.arange(gh * gw // 4).reshape(gh // 2, gw // 2).repeat(2, axis=0).repeat(2, axis=1)
    return xp.concatenate([xp.arange(prefix), prefix + squares.ravel()])


PART = Part({"merge_after": 0}, {"block": _block}, check=_check, known_to={"merge_after": "cpu onnx"})
