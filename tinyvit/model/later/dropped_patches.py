"""Patch dropout (Liu et al. 2022, *PatchDropout*): training leaves out a share of each image's patches."""

from tinyvit import ops
from tinyvit.backend import Array, array_module
from tinyvit.model.config import ViTConfig
from tinyvit.model.later.part import Part, Place, Stages, Step
from tinyvit.model.params import Params
from tinyvit.model.stage import Stage
from tinyvit.support.errors import UserError


def _stem(config: ViTConfig, place: Place, stages: Stages, step: Step) -> Stages:
    noise = step.noise
    if noise is None:
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


def _check(config: ViTConfig) -> None:
    if config.patches_stay or config.merge_after:
        raise UserError(
            f"patch_dropout is {config.patch_dropout:g}, expected 0: a model that predicts or merges "
            "patches, is causal, or has positions in its blocks cannot drop patches."
        )
    if config.trained_tokens == config.prefix:
        raise UserError(
            f"patch_dropout {config.patch_dropout:g} drops all {config.patches} patches: expected at most "
            f"{(config.patches - 1) / config.patches:.3g}."
        )


PART = Part(
    {"patch_dropout": 0.0},
    {"stem": _stem},
    check=_check,
    known_to={"patch_dropout": "cpu onnx page plain timm"},
)
