"""The first three are the library's own; rollout is written out."""

import numpy as np

from tinyvit.insight.attention import class_token_attention
from tinyvit.insight.filters import embedding_filters
from tinyvit.insight.positions import position_similarity

__all__ = ["attention_rollout", "class_token_attention", "embedding_filters", "position_similarity"]


def attention_rollout(attention):
    """The product of all blocks' (A + I) / 2, later blocks on the left (Abnar and Zuidema 2020)."""
    n, layers, _, N, _ = attention.shape
    came_from = np.broadcast_to(np.eye(N, dtype=attention.dtype), (n, N, N))
    for layer in range(layers):
        mixed = (attention[:, layer].mean(axis=1) + np.eye(N, dtype=attention.dtype)) / 2  # (n, N, N)
        came_from = mixed @ came_from
    return came_from
