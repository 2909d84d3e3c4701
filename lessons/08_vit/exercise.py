"""Lesson 8: the Vision Transformer. Fill in the functions, then run: pytest lessons/08_vit

The twelve parameters of a block are a dict: norm1.weight, norm1.bias (D,); attn.qkv.weight (D, 3D),
attn.qkv.bias (3D,); attn.out.weight (D, D), attn.out.bias (D,); norm2.weight, norm2.bias (D,); mlp.fc1.weight
(D, M), mlp.fc1.bias (M,); mlp.fc2.weight (M, D), mlp.fc2.bias (D,). They are called BLOCK below.

The parameters of the whole model are a dict, too: patch.weight (3PP, D), patch.bias (D,); class_token (D,);
position (N, D); the twelve of block i with blocks.i. in front; norm.weight, norm.bias (D,); head.weight (D,
C), head.bias (C,).
"""

import numpy as np  # noqa: F401 - you will want it

from tinyvit import ops  # noqa: F401 - ops.attention, ops.layer_norm, ops.mlp, ops.patchify, ops.linear, ...
from tinyvit.gradcheck import random_params  # noqa: F401 - for trust_vit, as is ViTConfig
from tinyvit.model import ViTConfig  # noqa: F401

BLOCK = ("norm1.weight", "norm1.bias", "attn.qkv.weight", "attn.qkv.bias", "attn.out.weight", "attn.out.bias")
BLOCK += ("norm2.weight", "norm2.bias", "mlp.fc1.weight", "mlp.fc1.bias", "mlp.fc2.weight", "mlp.fc2.bias")


def block(x, params, heads):
    """One pre-norm block: x (B, N, D) to y (B, N, D), and a cache. params has the twelve names of BLOCK."""
    raise NotImplementedError("write block: equations 1 and 2, two branches that are added to the stream")


def block_backward(dy, cache):
    """From dy (B, N, D): dx (B, N, D), and a dict with the gradient of every parameter under its name."""
    raise NotImplementedError("write block_backward: equation 3 twice, the MLP's branch first")


def forward(config, params, images):
    """Logits (B, C) of images (B, H, W, 3), and a cache.

    config has patch_size, heads and layers; params has all names of the model.
    """
    raise NotImplementedError("write forward: patches, token, position, your blocks, norm, row 0, head")


def backward(dlogits, cache):
    """A dict with the gradient of every parameter of the model under its name, from dlogits (B, C)."""
    raise NotImplementedError(
        "write backward: forward's list read upwards, blocks from the last to the first"
    )


def trust_vit(forward, backward):
    """True if this forward and backward of a ViT, called as the two above, agree for every parameter."""
    raise NotImplementedError("write trust_vit: push the parameters of a small model of your choice")


# The puzzles


def post_norm_block(x, params, heads):
    """One post-norm block, with the same parameters: y (B, N, D), and a function backward(dy).

    backward(dy) returns what block_backward returns: dx, and a dict with a gradient for every parameter.
    """
    raise NotImplementedError("write post_norm_block: LayerNorm after each addition, and the way back")


def pixel_gradient(config, params, images, dlogits):
    """The gradient of sum(logits * dlogits) with respect to images (B, H, W, 3): an array of that shape."""
    raise NotImplementedError(
        "write pixel_gradient: the walk back does not have to end at the patch embedding"
    )
