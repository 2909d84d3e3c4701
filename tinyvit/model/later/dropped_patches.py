"""Patch dropout (Liu et al. 2022, *PatchDropout*): training leaves out a share of each image's patches."""

from tinyvit import ops
from tinyvit.backend import Array, array_module
from tinyvit.model.config import ViTConfig
from tinyvit.model.later.part import Part, Place, Stages, Step
from tinyvit.model.params import Params
from tinyvit.model.stage import Stage


def _stages(config: ViTConfig, place: Place, stages: Stages, step: Step) -> Stages:
    noise = step.noise
    if place.kind != "stem" or noise is None:
        return stages

    def forward(params: Params, x: Array) -> tuple[Array, tuple]:
        B, N, _ = x.shape
        xp, prefix, count = array_module(x), config.prefix, config.trained_tokens
        patches = ops.draw_rows(noise, B, N - prefix, count - prefix, xp) + prefix
        others = xp.broadcast_to(xp.arange(prefix), (B, prefix))
        return ops.row_pool(x, xp.concatenate([others, patches], axis=1))

    def backward(dy: Array, cache: tuple, grads: Params) -> Array:
        return ops.row_pool_backward(dy, cache)

    return [*stages, Stage("dropped_patches", forward, backward)]


PART = Part({"patch_dropout": 0.0}, _stages)
