"""Where the model looks: the attention of its last block, as one number per patch."""

from __future__ import annotations

import numpy as np

from tinyvit.backend import Array, to_numpy
from tinyvit.engine import in_batches
from tinyvit.errors import UserError
from tinyvit.model import Params, ViTConfig, attention_maps, forward


def check_has_attention(config: ViTConfig) -> None:
    """Raise UserError for a ResNet on its own, when attention is asked for."""
    if not config.has_transformer:
        raise UserError("a ResNet has no attention to show: choose a ViT or a hybrid.")


def class_token_attention(config: ViTConfig, params: Params, images: Array) -> np.ndarray:
    """How much the class token attends to each patch in the last block, averaged over the heads.

    images (B, H, W, 3) are normalised; returns (B, gh, gw) for the grid of patches. The numbers of each image
    sum to 1. A mean-pooled model has no class token, so the average over all patches as queries is taken.
    Raises UserError for a ResNet on its own.
    """
    check_has_attention(config)
    _, cache = forward(config, params, images)
    probabilities = to_numpy(attention_maps(cache)[-1])  # (B, H, 1 or N, N)
    heads = probabilities.mean(axis=1)  # (B, 1 or N, N)
    drawn = heads[:, 0, 1:] if config.has_token else heads.mean(axis=1)  # (B, T), from the patches alone
    drawn = drawn / np.maximum(drawn.sum(axis=1, keepdims=True), np.finfo(drawn.dtype).tiny)
    return drawn.reshape(len(drawn), *config.grid)


def attention_in_batches(config: ViTConfig, params: Params, images: np.ndarray) -> np.ndarray:
    """class_token_attention (n, gh, gw) of any number of uint8 images (n, H, W, 3)."""
    return in_batches(lambda batch: class_token_attention(config, params, batch), config, params, images)
