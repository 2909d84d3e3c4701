"""The library's own ViT is the model answer; what it does not have in this form is written out."""

import numpy as np

from tinyvit import ops
from tinyvit.checking import random_params
from tinyvit.model import ViTConfig, backward, forward
from tinyvit.model.block import block_backward
from tinyvit.model.readout import readout_backward

__all__ = ["backward", "forward", "parameter_count", "pixel_gradient", "trust_vit"]


def parameter_count(config):
    """How many numbers a ViT of this ViTConfig has to learn."""
    D, M, C = config.width, config.mlp_width, config.classes
    R = config.pre_logits
    patch = 3 * config.patch_size**2 * D + D
    tokens = config.tokens * D + config.has_token * D
    block = 4 * (D * D + D) + 2 * D * M + M + D + 4 * D
    head = (D * R + R) + (R * C + C) if R else D * C + C
    return patch + tokens + config.layers * block + 2 * D + head


def trust_vit(forward, backward):
    """Push each named parameter of a small random model in one random direction; two images, two blocks."""
    rng = np.random.default_rng(0)
    config = ViTConfig((4, 6), 2, width=4, mlp_width=8, heads=2, layers=2, classes=5)
    params, images = random_params(config, rng), rng.normal(size=(2, 4, 6, 3))
    logits, cache = forward(config, params, images)
    dlogits, grads = rng.normal(size=logits.shape), params.zeros_like()
    backward(dlogits, cache, grads)

    def moved(name, push):
        pushed = params.astype("float64")
        pushed[name] += push
        return (forward(config, pushed, images)[0] * dlogits).sum()

    for name in params:
        push = 1e-5 * rng.normal(size=params[name].shape)
        by_push = (moved(name, push) - moved(name, -push)) / 2e-5
        by_hand = (grads[name] * push).sum() / 1e-5
        if abs(by_push - by_hand) > 1e-6 * (1 + abs(by_push)):
            return False
    return True


# The puzzle


def pixel_gradient(config, params, images, dlogits):
    """The backward walk of the whole model with two more steps: the patches' linear layer, and the cut."""
    _, cache = forward(config, params, images)
    scratch = params.zeros_like()
    dx = readout_backward(config, dlogits, cache.readout, scratch)
    for i in reversed(range(config.layers)):
        dx = block_backward(i, dx, cache.blocks[i], scratch)
    dx = dx[:, config.has_token :]  # the class token is no part of the image, and a position adds nothing
    dpatches, *_ = ops.linear_backward(dx, cache.stem.patch)
    return ops.unpatchify(dpatches, images.shape, config.patch_size)
