"""Pooling by the mean of the patches (ViT appendix D.3), alone or beside the class token.

    config.pool
    mean        the mean of the patches                                                    (B, D)
    both        the class token and that mean, side by side                                (B, 2D)

A mean-pooled model normally has no class token; config.class_token decides where it is not the usual.
"""

from tinyvit import ops
from tinyvit.backend import Array, array_module
from tinyvit.model.config import ViTConfig
from tinyvit.model.later.part import Part, Place, Specs, Stages, Step, instead
from tinyvit.model.stage import stage
from tinyvit.support.errors import UserError


def mean_of_patches(x: Array, prefix: int) -> tuple[Array, tuple]:
    """The mean (B, D) of all but the first `prefix` tokens of x (B, N, D); and the cache."""
    mean, cache = ops.mean_pool(x[:, prefix:])
    return mean, (x.shape, cache)


def mean_of_patches_backward(dy: Array, cache: tuple) -> Array:
    """Gradient of mean_of_patches: dx (B, N, D)."""
    shape, mean_cache = cache
    dx = array_module(dy).zeros(shape, dtype=dy.dtype)
    dx[:, shape[1] - mean_cache[1] :] = ops.mean_pool_backward(dy, mean_cache)
    return dx


def token_and_mean(x: Array, prefix: int) -> tuple[Array, tuple]:
    """The class token and the mean of the patches, (B, 2D), of tokens x (B, N, D); and the cache."""
    mean, cache = mean_of_patches(x, prefix)
    return array_module(x).concatenate([x[:, 0], mean], axis=1), cache


def token_and_mean_backward(dy: Array, cache: tuple) -> Array:
    """Gradient of token_and_mean: dx (B, N, D)."""
    D = dy.shape[1] // 2
    dx = mean_of_patches_backward(dy[:, D:], cache)
    dx[:, 0] = dy[:, :D]
    return dx


_POOLS = {
    "mean": (mean_of_patches, mean_of_patches_backward),
    "both": (token_and_mean, token_and_mean_backward),
}


def _stem(config: ViTConfig, place: Place, stages: Stages, step: Step) -> Stages:
    return stages if config.has_token else instead(stages, "class_token")


def _readout(config: ViTConfig, place: Place, stages: Stages, step: Step) -> Stages:
    if config.pool not in _POOLS:
        return stages
    return instead(stages, "pool", stage("pool", *_POOLS[config.pool], config.prefix))


def _specs(config: ViTConfig, place: Place, specs: Specs) -> Specs:
    return specs if config.has_token else instead(specs, "class_token")


def _check(config: ViTConfig) -> None:
    if config.class_token is not None and not isinstance(config.class_token, bool):
        raise UserError(f"class_token is {config.class_token!r}, expected True, False or None.")
    if config.reads_token and not config.has_token:
        raise UserError(f"pool {config.pool!r} reads a class token: omit class_token, or choose 'mean'.")
    if config.pool == "both" and config.final_norm == "pooled":
        raise UserError("pool 'both' is for tokens that are normalised: final_norm must be 'tokens'.")


PART = Part(
    {"pool": "token", "class_token": None},
    {"stem": _stem, "readout": _readout},
    {"stem": _specs},
    check=_check,
    known_to={"pool": "cpu onnx timm", "class_token": "cpu cuda onnx timm"},
)
