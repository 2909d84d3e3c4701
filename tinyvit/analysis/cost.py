"""What a model costs: multiply-adds of its matrix products, counted from its shape."""

from __future__ import annotations

from tinyvit.model import ViTConfig


def multiply_adds(config: ViTConfig) -> int:
    """Multiply-adds of one forward pass on one image; training costs about three times that.

    With T patches, N tokens, width D, MLP width M, L layers, C classes, and P*P*channels numbers a patch:

        patches    P P channels T D
        a block    N (4 D^2 + 2 D M)  +  2 N^2 D         (linear layers, and q k^T and A v)
        head       D C
    """
    D, M, N = config.width, config.mlp_width, config.tokens
    patches = config.grid[0] * config.grid[1]
    embedding = config.patch_size**2 * config.channels * patches * D
    block = N * (4 * D * D + 2 * D * M) + 2 * N * N * D
    features = config.pre_logits or D
    return embedding + config.layers * block + D * config.pre_logits + features * config.classes
