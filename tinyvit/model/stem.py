"""The stem: from the pixels of an image to its tokens (ViT eq. 1), forward and backward.

The patches of a plain ViT are cut from the image, and those of a hybrid from the feature map of its ResNet.
In a pure ResNet, the positions of that map are the tokens, as they are.
"""

from typing import NamedTuple

from tinyvit import ops
from tinyvit.backend import Array, array_module
from tinyvit.model.config import ViTConfig
from tinyvit.model.params import Params, add_with_bias, with_bias
from tinyvit.model.positions import PositionCache, add_positions, add_positions_backward
from tinyvit.model.resnet import ResNetCache, resnet, resnet_backward


class StemCache(NamedTuple):
    """What the backward pass of the stem needs, one entry per operation; None for those not carried out.

    counts are the kinds of other tokens than the class token, each with its number.
    """

    resnet: ResNetCache | None
    cut: tuple
    patch: tuple | None = None
    corrupt: Array | None = None
    counts: tuple[tuple[str, int], ...] = ()
    position: PositionCache | None = None
    norm: tuple | None = None
    dropout: Array | None = None
    kept: tuple | None = None


def stem(
    config: ViTConfig,
    params: Params,
    images: Array,
    noise: ops.Noise | None = None,
    corruption: ops.Corruption | None = None,
) -> tuple[Array, StemCache]:
    """Tokens (B, N, D) of images (B, H, W, channels), and the cache. Pass noise only in training.

    corruption, for a model that predicts patches, says which of them are masked or replaced. Raises
    ValueError if there are no images, or if they are not normalised or not of the model's size.
    """
    check_images(config, images)
    x, resnet_cache = resnet(config, params, images) if config.has_resnet else (images, None)
    x, cut = ops.patchify(x, config.patch_size)  # (B, T, P*P*channels)
    if not config.has_transformer:
        return x, StemCache(resnet_cache, cut)
    x, patch = ops.linear(x, *with_bias(params, "patch"))  # (B, T, D)
    x, corrupted = ops.corrupt(x, params["mask_token"], corruption.source) if corruption else (x, None)
    counts: tuple[tuple[str, int], ...] = ()
    # Each kind goes in front of what is there already, and the class token in front of all.
    for name in ("registers", "distillation_token"):
        if name in params:
            x, count = ops.register_tokens(x, params[name])
            counts += ((name, count),)
    if config.has_token:
        x, _ = ops.class_token(x, params["class_token"])  # (B, N, D)
    x, position = add_positions(config, params, x)  #                                        ViT eq. 1
    norm = None
    if config.pre_norm:  # a norm of the stem, as in CLIP; it has nothing to do with the pre-norm blocks
        x, norm = ops.layer_norm(x, *params.group("pre_norm"), config.eps)
    x, kept = _drop_patches(config, x, noise)
    x, dropout = ops.dropout(x, config.dropout, noise)
    return x, StemCache(resnet_cache, cut, patch, corrupted, counts, position, norm, dropout, kept)


def stem_backward(config: ViTConfig, dx: Array, cache: StemCache, grads: Params) -> None:
    """Add the gradients of the stem's parameters to grads, given dx (B, N, D)."""
    if cache.patch is not None:
        dx = ops.dropout_backward(dx, cache.dropout)
        dx = ops.row_pool_backward(dx, cache.kept) if cache.kept else dx
        if cache.norm is not None:
            dx, *dnorm = ops.layer_norm_backward(dx, cache.norm)
            grads.add("pre_norm", *dnorm)
        dx = add_positions_backward(dx, cache.position, grads)
        if config.has_token:
            dx, dtoken = ops.class_token_backward(dx, None)
            grads.add("class_token", dtoken)
        for name, count in reversed(cache.counts):
            dx, dtokens = ops.register_tokens_backward(dx, count)  # (B, T, D)
            grads.add(name, dtokens)
        if cache.corrupt is not None:
            dx, dmask = ops.corrupt_backward(dx, cache.corrupt)
            grads.add("mask_token", dmask)
        dx, *dpatch = ops.linear_backward(dx, cache.patch)
        add_with_bias(grads, "patch", *dpatch)
    if cache.resnet is not None:
        dx = ops.patchify_backward(dx, cache.cut)  # (B, *feature_map)
        resnet_backward(config, dx, cache.resnet, grads)


def _drop_patches(config: ViTConfig, x: Array, noise: ops.Noise | None) -> tuple[Array, tuple | None]:
    """The tokens x (B, N, D) without a share of the patches, others of each image; in training only."""
    if not config.patch_dropout or noise is None:
        return x, None
    B, N, _ = x.shape
    xp, prefix, count = array_module(x), config.prefix, config.trained_tokens
    patches = ops.draw_rows(noise, B, N - prefix, count - prefix, xp) + prefix
    others = xp.broadcast_to(xp.arange(prefix), (B, prefix))
    return ops.row_pool(x, xp.concatenate([others, patches], axis=1))


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
