"""Positions that take part in the scores of attention, instead of being added to tokens (ViT appendix D.4).

    config.position                                     parameters
    relative    a vector for each offset of tokens      position (2N - 1, K)              ops.relative_scores
    bias        a score for each offset in the plane    position ((2 gh - 1)(2 gw - 1) + 3, H)
                                                                                          ops.relative_bias

With config.position_at 'blocks' each block has such a table; with 'shared' all blocks have the same one.
"""

from tinyvit import ops
from tinyvit.backend import Array, array_module
from tinyvit.model.config import ViTConfig
from tinyvit.model.later.part import Part, Place, Specs, Stages, Step
from tinyvit.model.later.positions import part_of, position_specs
from tinyvit.model.params import Params
from tinyvit.model.stage import Stage
from tinyvit.ops.relative_bias import table_rows
from tinyvit.support.errors import UserError


def relative_stage(name: str) -> Stage:
    """Scores of the offsets between tokens, from the table of that name, are added to S."""

    def forward(params: Params, pair: tuple[Array, Array]) -> tuple:
        q, S = pair
        scores, cache = ops.relative_scores(q, params[name])
        S += scores
        return (q, S), cache

    def backward(dpair: tuple[Array, Array], cache: tuple, grads: Params) -> tuple:
        dq, dS = dpair
        dq_relative, dtable = ops.relative_scores_backward(dS, cache)
        grads.add(name, dtable)
        return dq + dq_relative, dS

    return Stage(name, forward, backward)


def bias_stage(config: ViTConfig, name: str) -> Stage:
    """Scores of the offsets in the plane, from the table of that name, are added to S."""

    def forward(params: Params, pair: tuple[Array, Array]) -> tuple:
        q, S = pair
        scores, cache = ops.relative_bias(params[name], config.grid, config.has_token)  # (H, N, N)
        S += scores[:, : S.shape[2]]
        return (q, S), cache

    def backward(dpair: tuple[Array, Array], cache: tuple, grads: Params) -> tuple:
        _, dS = dpair
        (_, H, Q, N), xp = dS.shape, array_module(dS)
        dscores = xp.zeros((H, N, N), dtype=dS.dtype)
        dscores[:, :Q] = dS.sum(axis=0)
        grads.add(name, ops.relative_bias_backward(dscores, cache))
        return dpair

    return Stage(name, forward, backward)


def _scores(config: ViTConfig, place: Place, stages: Stages, step: Step) -> Stages:
    name = part_of(config, place.block)
    return [*stages, relative_stage(name) if config.position == "relative" else bias_stage(config, name)]


def _specs(config: ViTConfig, place: Place, specs: Specs) -> Specs:
    shape = (table_rows(config.grid, config.has_token), config.heads)
    if config.position == "relative":
        shape = (2 * config.tokens - 1, config.head_width)
    return position_specs(config, place, specs, {"": shape})


def _multiply_adds(config: ViTConfig) -> int:
    N = config.tokens
    return config.layers * N * (2 * N - 1) * config.width if config.position == "relative" else 0


def _check(config: ViTConfig) -> None:
    if config.position == "relative" and (config.registers or config.has_token != config.reads_token):
        raise UserError("relative positions are for a class token and patches: omit registers.")
    if config.position == "bias" and (config.registers or config.pool == "distilled"):
        raise UserError("positions 'bias' are for a class token and patches: omit registers.")


PART = Part(
    {"position": "1d"},
    {"scores": _scores},
    {"stem": _specs, "block": _specs},
    _multiply_adds,
    _check,
    {"position": "onnx"},
    when=lambda config: config.position in ("relative", "bias"),
)
