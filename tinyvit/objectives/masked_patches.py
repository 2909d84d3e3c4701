"""Learning without labels: predicting the contents of corrupted patches (ViT appendix B.1.2).

Half of the patch embeddings of each image are corrupted (see ops.corruption), and the model predicts, from
the token of each corrupted patch, what the patch looks like. There are three ways to say that:

    mean-colour    the mean of its pixels, one of 512 colours: 3 bits for each of red, green and blue
    downsized      the patch reduced to 4 x 4 pixels of those 512 colours: 16 predictions at once
    pixels         its normalised pixels themselves

Colours are classes, and the loss is softmax cross-entropy; for pixels it is the mean squared error. It is the
mean over corrupted patches, and over the 16 predictions or the pixels of each; other patches do not count.
"""

import math
from dataclasses import replace
from types import ModuleType

import numpy as np

from tinyvit import model, ops
from tinyvit.backend import Array, array_module
from tinyvit.model import Params, ViTConfig
from tinyvit.model.stage import Arrange, backward_through, forward_through
from tinyvit.support.errors import UserError


def loss_and_grads(
    config: ViTConfig,
    params: Params,
    images: Array,
    labels: Array,
    grads: Params,
    target: str = "mean-colour",
    corrupt: float = 0.5,
    *,
    noise: ops.Noise,
    share: float = 1.0,
    arrange: Arrange | None = None,
) -> Array:
    """Mean loss over the corrupted patches of a batch, with its gradient added to grads, both times share.

    images (B, H, W, 3) are normalised, and labels are not used. The share `corrupt` of the patches is chosen
    by the noise, which also drives dropout. Returns the loss, an array without axes.
    """
    loss, (loss_cache, stages, caches) = forward_loss(config, params, images, target, corrupt, noise, arrange)
    if target == "pixels":
        dlogits = ops.squared_error_backward(loss_cache)  # (B, n, C)
    else:
        dlogits = ops.cross_entropy_backward(loss_cache)  # (B n, 512) or (16 B n, 512)
        dlogits = dlogits.reshape(len(images), -1, config.classes)  # (B, n, C)
    backward_through(stages, dlogits * share, caches, grads)
    return loss * share


def forward_loss(
    config: ViTConfig,
    params: Params,
    images: Array,
    target: str,
    corrupt: float,
    noise: ops.Noise,
    arrange: Arrange | None = None,
) -> tuple[Array, tuple]:
    """The loss of loss_and_grads, the cache of the loss, and the model's stages and their caches."""
    corruption = ops.draw_corruption(noise, len(images), config.patches, corrupt, array_module(images))
    stages = model.stages(config, noise, corruption)
    if arrange:
        stages = arrange(stages)
    logits, caches = forward_through(stages, params, images)
    truth = true_patches(config, images, corruption.chosen, target)
    if target == "pixels":
        loss, loss_cache = ops.squared_error(logits, truth)
    else:
        loss, loss_cache = ops.cross_entropy(logits.reshape(-1, colours(config)), truth.reshape(-1))
    return loss, (loss_cache, stages, caches)


def losses_and_hits(
    config: ViTConfig, logits: Array, images: Array, corruption: ops.Corruption, target: str
) -> Array:
    """Loss and accuracy of logits (B, n, C) for the corrupted patches of each image: (B, 2).

    The first column is the mean loss over an image's corrupted patches, the second the share of their colours
    that are right; not a number for pixels, which have no classes.
    """
    xp = array_module(images)
    truth = true_patches(config, images, corruption.chosen, target)
    B = len(images)
    if target == "pixels":
        losses = ((logits - truth) ** 2).reshape(B, -1).mean(axis=1)
        return xp.stack([losses, xp.full_like(losses, np.nan)], axis=1)
    z = logits.reshape(B, -1, colours(config))  # (B, n, 512) or (B, 16 n, 512)
    truth = truth.reshape(B, -1, 1)
    right = z.argmax(axis=2) == truth[:, :, 0]
    z = z - z.max(axis=2, keepdims=True)
    losses = xp.log(xp.exp(z).sum(axis=2)) - xp.take_along_axis(z, truth, axis=2)[:, :, 0]
    return xp.stack([losses.mean(axis=1), right.mean(axis=1).astype(losses.dtype)], axis=1)


def fixed_corruption(
    config: ViTConfig, images: int, corrupt: float, seed: int, xp: ModuleType
) -> ops.Corruption:
    """The corruption with which images are evaluated: that of step 0, which no step of training has."""
    return ops.draw_corruption(ops.Noise(seed, 0), images, config.patches, corrupt, xp)


TARGETS = ("mean-colour", "downsized", "pixels")
LEVELS = 8  # of each channel: 3 bits
SIDE = 4  # of a downsized patch


def pretraining_config(config: ViTConfig, target: str, corrupt: float) -> ViTConfig:
    """The same model with a head that predicts the target for every patch.

    Raises UserError if there is no such target, or if the patches do not allow it.
    """
    if target not in TARGETS:
        raise UserError(f"the target is {target!r}, expected one of {', '.join(TARGETS)}.")
    if not config.has_transformer:
        raise UserError(
            "a ResNet on its own has no patches to hide: choose a ViT such as nano/4, or a hybrid such as "
            "R5+nano/4."
        )
    (H, W), P = config.image_size, config.pixels_per_patch
    if H % P or W % P:
        raise UserError(
            f"images of {H} x {W} pixels are not made of whole patches of {P} x {P}, whose contents could be "
            f"predicted: choose images whose sides are multiples of {P} pixels."
        )
    if config.patches < 2:
        raise UserError(
            f"the image is a single patch of {P} x {P} pixels, and there is no other to predict it from: "
            "choose a model with smaller patches."
        )
    if target == "downsized" and P % SIDE:
        raise UserError(
            f"patches of {P} x {P} pixels cannot be downsized to {SIDE} x {SIDE}: choose a patch size "
            f"that is a multiple of {SIDE}, or another --target."
        )
    if ops.corrupted_patches(corrupt, config.patches) < 1:
        raise UserError(
            f"a share of {corrupt:g} of {config.patches} patches is less than one patch: give a larger "
            "--corrupt, or a model with smaller patches."
        )
    numbers = {"mean-colour": colours(config), "downsized": SIDE * SIDE * colours(config)}
    numbers["pixels"] = P * P * config.channels
    return replace(config, predicts="patches", classes=numbers[target])


def blind_loss(config: ViTConfig, target: str) -> float:
    """The loss of a model that knows nothing: that of guessing evenly or, for pixels, at most that of 0."""
    return 1.0 if target == "pixels" else math.log(colours(config))


def colours(config: ViTConfig) -> int:
    """Number of colours: 512, unless the images do not have three channels."""
    return LEVELS**config.channels


def true_patches(config: ViTConfig, images: Array, chosen: Array, target: str) -> Array:
    """The target for the chosen patches (B, n) of normalised images (B, H, W, 3).

    Colours are classes, int64: (B, n) for the mean colour, (B, n, 16) for downsized patches. Pixels are
    (B, n, P*P*3).
    """
    P = config.pixels_per_patch
    patches, _ = ops.patchify(images, P)  # (B, T, P*P*3)
    patches, _ = ops.row_pool(patches, chosen)  # (B, n, P*P*3)
    if target == "pixels":
        return patches
    side = 1 if target == "mean-colour" else SIDE
    B, n, _ = patches.shape
    whole, _ = ops.patchify(patches.reshape(B * n, P, P, -1), P // side)
    means = _mean_bytes(whole.reshape(B, n, side * side, -1, config.channels))  # (B, n, 1 or 16, 3)
    classes = colour_classes(means)
    return classes[:, :, 0] if target == "mean-colour" else classes


def as_pixels(config: ViTConfig, values: Array, target: str) -> Array:
    """Patches (B, n, P*P*3) of normalised pixels that look as `values` say, which are as in true_patches.

    A class of colours is painted in the middle one.
    """
    if target == "pixels":
        return values
    xp, (B, n, *_) = array_module(values), values.shape
    side = 1 if target == "mean-colour" else SIDE
    pixels = class_colours(values.reshape(B, n, side, side), config.channels) / 127.5 - 1
    for axis in (2, 3):
        pixels = xp.repeat(pixels, config.pixels_per_patch // side, axis=axis)
    return pixels.reshape(B, n, -1)


def colour_classes(means: Array) -> Array:
    """The classes (...), int64, of colours (..., 3) from 0 to 255: 3 bits of each channel, red first."""
    xp = array_module(means)
    levels = xp.clip(means // (256 // LEVELS), 0, LEVELS - 1).astype(xp.int64)
    weights = xp.asarray([LEVELS**i for i in reversed(range(means.shape[-1]))])
    return (levels * weights).sum(axis=-1)


def class_colours(classes: Array, channels: int = 3) -> Array:
    """The colours (..., 3), from 0 to 255, of classes (...): the middle of what each class stands for."""
    xp = array_module(classes)
    levels = [classes // LEVELS**i % LEVELS for i in reversed(range(channels))]
    step = 256 // LEVELS
    return xp.stack(levels, axis=-1) * step + step // 2


def _mean_bytes(pixels: Array) -> Array:
    """The mean (..., 3), from 0 to 255, of normalised pixels (..., k, 3).

    Rounding them back to whole bytes makes their sum exact, so a colour on the edge of two classes is in the
    same one on every device.
    """
    xp = array_module(pixels)
    return xp.rint((pixels + 1) * 127.5).sum(axis=-2) / pixels.shape[-2]
