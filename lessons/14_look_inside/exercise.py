"""Lesson 14: look inside. Fill in the functions, then run: pytest lessons/14_look_inside"""

import numpy as np  # noqa: F401 - you will want it

from tinyvit.model import attention_maps  # noqa: F401 - and this


def embedding_filters(config, params, count=28):
    """The first count columns of U, of params["patch.weight"] = U diag(s) V^T, as images, strongest first.

    Returns (count, P, P, C), or as many as there are. Each has length 1; of its numbers, the one largest in
    size is positive.
    """
    raise NotImplementedError("write embedding_filters: np.linalg.svd, then columns of U as images")


def position_similarity(config, params):
    """Cosine of every patch position with every other, (gh, gw, gh, gw); the class token's is left out.

    params["position"] is (N, D), the class token first if config.has_token; (gh, gw) is config.grid.
    """
    raise NotImplementedError("write position_similarity: equation positions 1")


def class_token_attention(config, params, images):
    """The share that the class token draws from each patch in the last block, mean of all heads: (B, gh, gw).

    images (B, H, W, 3), normalised. Each image's numbers add up to 1; the token's share of itself is left
    out. Only models with a class token are asked for.
    """
    raise NotImplementedError("write class_token_attention: equations attention map 1 and 2")


# The puzzle


def attention_rollout(attention):
    """The share of each token after the last block that comes from each token of the input: (n, N, N).

    attention (n, layers, heads, N, N) is that of all blocks, the first block first, as model.attention(...)
    returns it. All heads of a block count the same. Of what leaves a block, half has come through its
    attention, and half through the skip connection, which passes each token on as it is. Rows add up to 1.
    The dtype is that of attention.
    """
    raise NotImplementedError("write attention_rollout: follow the shares from block to block")
