"""Lesson 12: the whole ViT. Fill in the functions, then run: pytest lessons/12_vit

Two calls you need besides tinyvit.ops, for block number i:

    x, cache = block(config, params, i, x)                x (B, N, D)
    dx = block_backward(i, dy, cache, grads)              adds the block's own gradients to grads

And two ways to reach the arrays of a part, in the order in which its operation takes them:

    params.group("head")                                  head.weight, head.bias
    grads.add("head", dweight, dbias)                     adds each to what is there
"""

import numpy as np  # noqa: F401 - for trust_vit, as are random_params and ViTConfig

from tinyvit import ops  # noqa: F401 - ops.patchify, ops.linear, ops.class_token, ...
from tinyvit.checking import random_params  # noqa: F401
from tinyvit.model import ViTConfig  # noqa: F401
from tinyvit.model.block import block, block_backward  # noqa: F401


def parameter_count(config):
    """How many numbers a ViT of this ViTConfig has to learn; images have 3 channels."""
    raise NotImplementedError(
        "write parameter_count: part by part, with position, token and pre_logits as in config"
    )


def forward(config, params, images):
    """Logits (B, C) of images (B, H, W, 3), and a cache. params is read by name: params.group("patch")."""
    raise NotImplementedError("write forward: patches, token, position, blocks, norm, pooling, head")


def backward(dlogits, cache, grads):
    """From dlogits (B, C), add the gradient of every parameter to grads, with grads.add."""
    raise NotImplementedError(
        "write backward: forward's list read upwards, blocks from the last to the first"
    )


def trust_vit(forward, backward):
    """True if this forward and backward of a ViT, called as the two above, agree for every parameter."""
    raise NotImplementedError("write trust_vit: push the parameters of a small model of your choice")


# The puzzle


def pixel_gradient(config, params, images, dlogits):
    """How sum(logits * dlogits) changes with each pixel of images (B, H, W, 3): a gradient of that shape."""
    raise NotImplementedError(
        "write pixel_gradient: the walk back does not have to end at the patch embedding"
    )
