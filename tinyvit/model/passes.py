"""The forward and backward passes of any model, and what else its stages are for."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, NamedTuple

from tinyvit import ops
from tinyvit.backend import Array
from tinyvit.model.config import ViTConfig
from tinyvit.model.params import Params
from tinyvit.model.stage import Stage, backward_through, forward_through, infer_through, no_backward
from tinyvit.model.vit import vit


class Cache(NamedTuple):
    """The stages of a forward pass, and the cache of each."""

    stages: Sequence[Stage]
    caches: list[Any]

    def of(self, name: str) -> Any:
        """The cache of the stage of that name."""
        return next(cache for each, cache in zip(*self, strict=True) if each.name == name)


def stages(
    config: ViTConfig,
    noise: ops.Noise | None = None,
    corruption: ops.Corruption | None = None,
    all_tokens: bool = False,
) -> list[Stage]:
    """The stages of a model, from images (B, H, W, channels) to logits (B, C).

    Pass noise in training, so that dropout and stochastic depth act; omit it otherwise. A model that predicts
    patches gives logits (B, T, C) or, given a corruption of n patches of each image, (B, n, C) for these
    patches, in the order of corruption.chosen. With all_tokens the last block computes every token, even if
    the head reads only one.
    """
    if config.is_paper:
        return vit(config, all_tokens)
    from tinyvit.model.later.assemble import Step, stages_of  # the paper's model does not need it

    return stages_of(config, Step(noise, corruption), all_tokens)


def forward(
    config: ViTConfig, params: Params, images: Array, noise: ops.Noise | None = None
) -> tuple[Array, Cache]:
    """Logits (B, C) for a batch of images, and the cache for backward.

    images (B, H, W, channels) are normalised and in the dtype of the parameters.
    """
    check_images(config, images)
    model = stages(config, noise)
    logits, caches = forward_through(model, params, images)
    return logits, Cache(model, caches)


def backward(dlogits: Array, cache: Cache, grads: Params) -> None:
    """Add the gradient of every parameter to grads, given dlogits, shaped as the logits."""
    backward_through(cache.stages, dlogits, cache.caches, grads)


def infer(config: ViTConfig, params: Params, images: Array) -> Array:
    """Logits (B, C) for a batch of images, as in forward, but without keeping a cache."""
    check_images(config, images)
    return infer_through(stages(config), params, images)


def features(config: ViTConfig, params: Params, images: Array) -> Array:
    """Features of images (B, H, W, channels): see feature_stages."""
    check_images(config, images)
    return infer_through(feature_stages(config), params, images)


def feature_stages(config: ViTConfig) -> list[Stage]:
    """The stages that compute the features of an image, (B, D), (B, 2D) or (B, pre_logits).

    Features are the input of the head. Of two heads, they are the mean of the two inputs; and if the model
    predicts an embedding, they are that embedding, the output of its head. The class token of a model that
    predicts patches reaches no loss, so that nothing has trained it to describe the image: its features are
    the mean of its patches (as in He et al. 2021, *Masked Autoencoders*).
    """
    if config.predicts == "embedding":
        return stages(config)
    if config.predicts_patches:
        config = replace(config, predicts="image", pool="mean", class_token=config.has_token)
    body = stages(config)[:-1]
    return [*body, Stage("mean", _mean_of_two, no_backward)] if config.pool == "distilled" else body


def check_images(config: ViTConfig, images: Array) -> None:
    """Raise ValueError unless images are normalised pixels (B, H, W, channels) of the model's size."""
    expected = (*config.image_size, config.channels)
    if images.shape[1:] != expected or not len(images):
        raise ValueError(
            f"images have shape {images.shape}, expected (B, {', '.join(map(str, expected))}) with at least "
            "one image"
        )
    if images.dtype.kind in "uib":
        raise ValueError(
            f"images are {images.dtype}, expected normalised pixels in floating point: see "
            "tinyvit.data.normalise"
        )


def _mean_of_two(params: Params, x: Array) -> tuple[Array, None]:
    return x.mean(axis=1), None
