"""Attention rollout (Abnar and Zuidema 2020; ViT Figures 6 and 14): from which patches the answer has come.

The tokens that enter the last block are mixtures already. Rollout follows the mixing from block to block. It
takes all H heads of a block to count the same, and each token that leaves it to be half the token that came
in, through the skip connection, and half what the attention drew:

    M_l = (mean over heads of A_l + I) / 2                                                 (1)
    R_l = M_l R_(l-1)        R_0 = I                                                       (2)

The rows of A_l add up to 1, and so do those of M_l and R_l: entry (i, j) of R_L is the share of the final
token i that has come from token j of the image. The answer is read from one row of it, or from all.
"""

from tinyvit.analysis.attention_map import check_has_attention, drawn_from_patches
from tinyvit.backend import Array, array_module
from tinyvit.model import Params, ViTConfig, attention_by_block


def rollout(config: ViTConfig, params: Params, images: Array) -> Array:
    """The share of each patch in the answer, among the shares of all patches: (B, gh, gw), of sum 1.

    images (B, H, W, 3) are normalised. The row of R_L is that of the class token, without what has come from
    the class token itself; in a mean-pooled model it is the mean of the rows of all patches. Raises UserError
    for a ResNet on its own.
    """
    check_has_attention(config)
    return drawn_from_patches(config, came_from(config, params, images))


def came_from(config: ViTConfig, params: Params, images: Array) -> Array:
    """R_L (B, N, N): the share of token j of the image in token i of the last block; each row sums to 1."""
    xp = array_module(images)
    eye = xp.eye(config.tokens, dtype=images.dtype)
    R = xp.broadcast_to(eye, (len(images), *eye.shape))
    for A in attention_by_block(config, params, images):  # (B, H, N, N)
        R = (A.mean(axis=1) + eye) / 2 @ R  #                                                eq. 1, 2
    return R
