"""Masked patch prediction (ViT appendix B.1.2): the head reads the token of every patch.

In training, some patches are corrupted (see ops.corruption), and only these are predicted.
"""

from tinyvit import ops
from tinyvit.backend import Array, array_module
from tinyvit.errors import UserError
from tinyvit.model.config import ViTConfig
from tinyvit.model.later.part import Part, Place, Specs, Stages, Step, after, instead
from tinyvit.model.layout import ParamSpec
from tinyvit.model.stage import stage


def _stages(config: ViTConfig, place: Place, stages: Stages, step: Step) -> Stages:
    if config.predicts != "patches":
        return stages
    corruption = step.corruption
    if place.kind == "stem" and corruption:
        corrupt = stage("mask_token", ops.corrupt, ops.corrupt_backward, corruption.source)
        return after(stages, "patch", corrupt)
    if place.kind == "readout":
        chosen = corruption.chosen if corruption else None

        def patches(x: Array) -> tuple[Array, tuple]:
            xp, T = array_module(x), config.patches
            rows = xp.broadcast_to(xp.arange(T), (len(x), T)) if chosen is None else chosen
            return ops.row_pool(x, rows + config.prefix)

        return instead(stages, "pool", stage("pool", patches, ops.row_pool_backward))
    return stages


def _specs(config: ViTConfig, place: Place, specs: Specs) -> Specs:
    if place.kind != "stem" or config.predicts != "patches":
        return specs
    return after(specs, "patch.bias", ParamSpec("mask_token", (config.width,)))


def _check(config: ViTConfig) -> None:
    if config.predicts == "patches" and (
        config.pool not in ("token", "mean") or config.final_norm != "tokens"
    ):
        raise UserError("a model that predicts patches has pool 'token' or 'mean', and norms all tokens.")


PART = Part({"predicts": "image"}, _stages, _specs, check=_check)
