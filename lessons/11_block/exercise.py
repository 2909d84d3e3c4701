"""Lesson 11: the block. Fill in the functions, then run: pytest lessons/11_block

The parameters are a dict: norm1.weight, norm1.bias (D,); attn.qkv.weight (D, 3D), attn.qkv.bias (3D,);
attn.out.weight (D, D), attn.out.bias (D,); norm2.weight, norm2.bias (D,); mlp.fc1.weight (D, M), mlp.fc1.bias
(M,); mlp.fc2.weight (M, D), mlp.fc2.bias (D,).
"""

import numpy as np  # noqa: F401 - for your inputs in guilty_block

from tinyvit.ops import (  # noqa: F401 - you will want them
    attention,
    attention_backward,
    layer_norm,
    layer_norm_backward,
    mlp,
    mlp_backward,
)


def block(x, params, heads):
    """One pre-norm block: x (B, N, D) to y (B, N, D), and a cache."""
    raise NotImplementedError("write block: equations 1 and 2, two branches that are added to the stream")


def block_backward(dy, cache):
    """From dy (B, N, D): dx (B, N, D), and a dict with the gradient of every parameter under its name."""
    raise NotImplementedError("write block_backward: equation 3 twice, the MLP's branch first")


def guilty_block():
    """The name of the suspect in suspects.py whose backward is wrong, and inputs (x, a, c) that expose it.

    x (B, N, D), a (D, D), c (D, D), all float64.
    """
    raise NotImplementedError(
        "write guilty_block: check the gradients of all three, on inputs of your choice"
    )


# The puzzle


def post_norm_block(x, params, heads):
    """One post-norm block, with the same parameters: y (B, N, D), and a function backward(dy).

    backward(dy) returns what block_backward returns: dx, and a dict with a gradient for every parameter.
    """
    raise NotImplementedError("write post_norm_block: LayerNorm after each addition, and the way back")
