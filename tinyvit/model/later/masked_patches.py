"""Masked patch prediction (ViT appendix B.1.2): the head reads the token of every patch.

In training, some patches are corrupted (see ops.corruption), and only these are predicted.
"""

from tinyvit import ops
from tinyvit.backend import Array, array_module
from tinyvit.model.config import ViTConfig
from tinyvit.model.later.part import Part, Place, Specs, Stages, Step, after, instead
from tinyvit.model.layout import ParamSpec
from tinyvit.model.stage import stage
from tinyvit.support.errors import UserError


def _stem(config: ViTConfig, place: Place, stages: Stages, step: Step) -> Stages:
    if not step.corruption:
        return stages
    corrupt = stage("mask_token", ops.corrupt, ops.corrupt_backward, step.corruption.source)
    return after(stages, "patch", corrupt)


def _readout(config: ViTConfig, place: Place, stages: Stages, step: Step) -> Stages:
    def patches(x: Array) -> tuple[Array, tuple]:
        xp, T = array_module(x), config.patches
        every = xp.broadcast_to(xp.arange(T), (len(x), T))
        return ops.row_pool(x, (step.corruption.chosen if step.corruption else every) + config.prefix)

    return instead(stages, "pool", stage("pool", patches, ops.row_pool_backward))


def _specs(config: ViTConfig, place: Place, specs: Specs) -> Specs:
    return after(specs, "patch.bias", ParamSpec("mask_token", (config.width,)))


def _check(config: ViTConfig) -> None:
    if config.pool not in ("token", "mean") or config.final_norm != "tokens":
        raise UserError("a model that predicts patches has pool 'token' or 'mean', and norms all tokens.")


PART = Part(
    {"predicts": "image"},
    {"stem": _stem, "readout": _readout},
    {"stem": _specs},
    check=_check,
    when=lambda config: config.predicts_patches,
)
