"""Learning without labels: predicting the contents of corrupted patches (ViT appendix B.1.2).

Half of the patch embeddings of each image are corrupted (see ops.corruption), and the model predicts, from
the token of each corrupted patch, what the patch looks like, in one of the ways of objectives.patch_targets.
Colours are classes, and the loss is softmax cross-entropy; for pixels it is the mean squared error. It is the
mean over corrupted patches, and over the 16 predictions or the pixels of each; other patches do not count.
"""

from types import ModuleType

import numpy as np

from tinyvit import model, ops
from tinyvit.backend import Array, array_module
from tinyvit.model import Params, ViTConfig
from tinyvit.model.stage import Arrange, backward_through, forward_through
from tinyvit.objectives.patch_targets import colours, true_patches


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
    """How well logits (B, n, C) predict the corrupted patches of each image: (B, 2).

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
