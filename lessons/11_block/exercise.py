"""Lesson 11: the block. Fill in the two functions, then run: pytest lessons/11_block

The parameters are a dict: norm1.weight, norm1.bias (D,); attn.qkv.weight (D, 3D), attn.qkv.bias (3D,);
attn.out.weight (D, D), attn.out.bias (D,); norm2.weight, norm2.bias (D,); mlp.fc1.weight (D, M), mlp.fc1.bias
(M,); mlp.fc2.weight (M, D), mlp.fc2.bias (D,).
"""

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
