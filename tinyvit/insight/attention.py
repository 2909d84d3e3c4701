"""The attention of a model: of its last block, or of each head of each block; rollout; distance.

Attention rollout (Abnar and Zuidema 2020; ViT Figures 6 and 14): from which patches the answer has come.

The tokens that enter the last block are mixtures already. Rollout follows the mixing from block to block. It
takes all H heads of a block to count the same, and each token that leaves it to be half the token that came
in, through the skip connection, and half what the attention drew. A head that is switched off, since no
weight reads it, draws nothing, and then the rows of M_l are divided by their sums:

    M_l = (mean over heads of A_l + I) / 2                                                 (1)
    R_l = M_l R_(l-1)        R_0 = I                                                       (2)

The rows of A_l add up to 1, and so do those of M_l and R_l: entry (i, j) of R_L is the share of the final
token i that has come from token j of the image. The answer is read from the rows of the tokens that the head
reads.

The mean attention distance of a head (ViT Figure 7, right, and Figure 11): how far it looks, in pixels.

Patches are P pixels apart. In a grid, a patch in row r and column c lies from one in row r' and column c' at

    d = P sqrt((r - r')^2 + (c - c')^2)                                                    (3)

A query patch i draws A_ij from patch j. The class token lies nowhere in the picture, so it is left out, both
as a query and as a key. What a query draws from the patches alone then serves as weights, and all T queries
count the same:

    distance = 1/T  sum over i of  (sum over j of A_ij d_ij) / (sum over j of A_ij)        (4)

It plays the part of the receptive field of a convolution: small for a head that looks around the query, large
for one that looks across the picture. A head that draws the same from everywhere, as those of a new model
nearly do, has the mean of d over all T^2 pairs. In a grid of h rows and w columns, (h - |a|) (w - |b|) pairs
are a rows and b columns apart, so that

    uniform = P / (h w)^2  sum over |a| < h and |b| < w of  (h - |a|) (w - |b|) sqrt(a^2 + b^2)        (5)

For a fine square grid this approaches 0.5214 of its side, the mean distance of two random points of a square,
(2 + sqrt(2) + 5 log(1 + sqrt(2))) / 15.
"""

import numpy as np

from tinyvit import ops
from tinyvit.backend import Array, array_module, to_numpy
from tinyvit.model import Cache, Params, ViTConfig, attention_among_all, attention_maps, forward
from tinyvit.model.later.merged_patches import over_patches, pooled_over_patches
from tinyvit.support.errors import UserError


def check_has_attention(config: ViTConfig) -> None:
    """Raise UserError for a ResNet on its own, when attention is asked for."""
    if not config.has_transformer:
        raise UserError("a ResNet has no attention to show: choose a ViT or a hybrid.")


def class_token_attention(config: ViTConfig, params: Params, images: Array) -> np.ndarray:
    """The attention of the class token to each patch in the last block, averaged over the heads.

    images (B, H, W, 3) are normalised; returns (B, gh, gw) for the grid of patches. The numbers of each image
    sum to 1. Where no class token is read, the probe of attention pooling draws, or the average over all
    patches as queries is taken. Raises UserError for a ResNet on its own.
    """
    check_has_attention(config)
    _, cache = forward(config, params, images)
    if config.pool == "attention":
        return to_numpy(_of_probe(config, cache)).reshape(-1, *config.grid)
    last = cache.of(f"blocks.{config.layers - 1}")
    probabilities = to_numpy(attention_among_all(config, last))  # (B, H, 1 or N, N)
    return drawn_from_patches(config, probabilities.mean(axis=1))


def drawn_from_patches(config: ViTConfig, rows: Array) -> Array:
    """The share of each patch in the answer: (..., gh, gw), which sum to 1, from rows (..., 1 or N, N).

    rows hold what each token draws from each other token. The answer is read from the class token, the first
    row, and in a distilled model from the second as well; in other models from the rows of all patches. Where
    it is read from both, both count the same. What is drawn from tokens that are not patches is left out.
    """
    T, read = config.patches, []
    if config.reads_token and not config.predicts_patches:
        read.append(rows[..., : config.num_special_tokens, -T:])
    if not read or config.pool == "both":
        read.append(rows[..., -T:, -T:])
    drawn = _of_sum_1(sum(each.mean(axis=-2) for each in read))  # (..., T)
    return drawn.reshape(*drawn.shape[:-1], *config.grid)


def answering_tokens(config: ViTConfig) -> str:
    """The tokens that the answer is read from, in words; a class token may be there that is not read."""
    if not config.reads_token or config.predicts_patches:
        return "average patch"
    words = {"both": "class token and average patch", "distilled": "class and distillation token"}
    return f"mean of {words[config.pool]}" if config.pool in words else "class token"


def _of_probe(config: ViTConfig, cache: Cache) -> Array:
    """What the probe of attention pooling draws from each patch: (B, T), which sum to 1."""
    drawn = ops.pool_probabilities(cache.of("pool")[0]).mean(axis=1)  # (B, tokens it reads)
    return _of_sum_1(pooled_over_patches(config, drawn))


def _of_sum_1(drawn: Array) -> Array:
    """The attention to each patch (..., T), as shares of the attention to all patches."""
    xp = array_module(drawn)
    return drawn / xp.maximum(drawn.sum(axis=-1, keepdims=True), xp.finfo(drawn.dtype).tiny)


def head_maps(config: ViTConfig, params: Params, images: Array) -> Array:
    """The map of each head of each block over the patches: (B, layers, heads, gh, gw), each of sum 1.

    images (B, H, W, 3) are normalised. As in class_token_attention, the class token draws, or in a
    mean-pooled model the average patch.
    """
    blocks = [drawn_from_patches(config, A) for A in attention_maps(config, params, images)]
    return array_module(images).stack(blocks, axis=1)


def rollout(config: ViTConfig, params: Params, images: Array) -> Array:
    """The share of each patch in the answer, among the shares of all patches: (B, gh, gw), of sum 1.

    images (B, H, W, 3) are normalised. The row of R_L is that of the class token, without what has come from
    the class token itself; in other models it is read as drawn_from_patches says, and with attention pooling
    it is the mean of the rows of all patches by what the probe draws from them.
    """
    R = came_from(config, params, images)
    if config.pool == "attention":
        probe = _of_probe(config, forward(config, params, images)[1])  # (B, T)
        T = config.patches
        return _of_sum_1((probe[:, None] @ R[:, -T:, -T:])[:, 0]).reshape(-1, *config.grid)
    return drawn_from_patches(config, R)


def came_from(config: ViTConfig, params: Params, images: Array) -> Array:
    """R_L (B, N, N): the share of token j of the image in token i of the last block; each row sums to 1."""
    xp = array_module(images)
    eye = xp.eye(config.tokens, dtype=images.dtype)
    R = xp.broadcast_to(eye, (len(images), *eye.shape))
    for i, A in enumerate(attention_maps(config, params, images)):  # (B, H, N, N)
        is_on = params[f"blocks.{i}.attn.out.weight"].reshape(config.heads, -1).any(axis=1)
        kept = over_patches(config, xp.eye(config.tokens_of(i), dtype=images.dtype))  # I
        M = (A * is_on[:, None, None]).mean(axis=1) + kept
        R = M / M.sum(axis=-1, keepdims=True) @ R  #                                         eq. 1, 2
    return R


def patch_distances(config: ViTConfig) -> np.ndarray:
    """The distance d of every pair of patches, in pixels of the model's images: (T, T)."""
    r, c = np.indices(config.grid).reshape(2, -1)  # (T,) each
    return config.pixels_per_patch * np.hypot(r[:, None] - r, c[:, None] - c)  #              eq. 3


def attention_distance(config: ViTConfig, params: Params, images: Array) -> Array:
    """The mean attention distance of every head in pixels, for each image: (B, layers, heads).

    images (B, H, W, 3) are normalised. In a hybrid, distances are those of the patches in the image.
    """
    xp = array_module(images)
    d = xp.asarray(patch_distances(config), dtype=images.dtype)
    return xp.stack([_distance(config, A, d) for A in attention_maps(config, params, images)], axis=1)


def uniform_distance(config: ViTConfig) -> float:
    """The distance in pixels of a head that draws the same from every patch."""
    h, w = config.grid
    a, b = np.arange(1 - h, h)[:, None], np.arange(1 - w, w)
    pairs = (h - abs(a)) * (w - abs(b))  # (2h - 1, 2w - 1)
    return float(config.pixels_per_patch * (pairs * np.hypot(a, b)).sum() / (h * w) ** 2)  #  eq. 5


def _distance(config: ViTConfig, A: Array, d: Array) -> Array:
    """Eq. 4 for probabilities A (B, H, N, N) and distances d (T, T): (B, H)."""
    xp = array_module(A)
    A = A[..., config.prefix :, config.prefix :]  # (B, H, T, T)
    drawn = xp.maximum(A.sum(axis=-1), xp.finfo(A.dtype).tiny)  # (B, H, T)
    return (xp.einsum("bhij,ij->bhi", A, d) / drawn).mean(axis=-1)
