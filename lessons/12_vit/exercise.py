"""Lesson 12: the whole ViT. Fill in the three functions, then run: pytest lessons/12_vit

Two calls you need besides tinyvit.ops, for block number i:

    x, cache = block(params, config, i, x, None)          x (B, N, D); None: no dropout
    dx = block_backward(dy, cache, i, grads)              adds the block's own gradients to grads
"""

from tinyvit import ops  # noqa: F401 - ops.patchify, ops.linear, ops.class_token, ...
from tinyvit.model.block import block, block_backward  # noqa: F401


def parameter_count(config):
    """How many numbers a ViT of this ViTConfig has to learn; images have 3 channels."""
    raise NotImplementedError(
        "write parameter_count: the formula, with position, token and pre_logits as in config"
    )


def forward(params, config, images):
    """Logits (B, C) of images (B, H, W, 3), and a cache. params is read by name: params["patch.weight"]."""
    raise NotImplementedError("write forward: patches, token, position, blocks, norm, pooling, head")


def backward(dlogits, cache, grads):
    """From dlogits (B, C), add the gradient of every parameter to grads, by grads.add(name, value)."""
    raise NotImplementedError(
        "write backward: forward's list read upwards, blocks from the last to the first"
    )
