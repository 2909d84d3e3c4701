"""The similarities of the position embeddings, which have learned the plane (ViT Figure 7, centre).

Position i has a learned vector e_i. The model is not told that the patches form a grid. Whether it has
learned so is shown by the cosines

    similarity(i, j) = e_i . e_j / (|e_i| |e_j|)                                           (1)

arranged like the patches: neighbouring positions, and those in the same row or column, should be similar. In
a model that adds positions before every block, they are those of the first, since the figure in the paper
shows positions that are added there.

In a model with relative positions, a head adds something of its own to each offset between patches (ViT D.4).
A query q_i scores the offset d to token j with its vector r_d: S_ij = q_i . r_d / sqrt(K), beside the product
with the key (see ops.relative_scores). The normalised token that makes q_i is n_i w + b, and n_i differs from
token to token. What is left for n_i = 0 depends on no token, and so it is what the head has learned about
places alone:

    q = b Wq + bq        score(d) = q . r_d / sqrt(K)

Tokens are numbered row by row, so a patch a rows down and b columns to the right of the query's is i - j =
-(a gw + b) away. Two such places share one offset, and one score, where a row ends: in a grid of 8 columns, 7
to the right is also 1 down and 1 to the left.
"""

import math

import numpy as np

from tinyvit.backend import to_numpy
from tinyvit.model import Params, ViTConfig
from tinyvit.model.later.biases import attention_weights
from tinyvit.model.later.positions import part_of, position_table
from tinyvit.ops import layer_norm


def position_similarity(config: ViTConfig, params: Params, block: int = 0) -> np.ndarray | None:
    """The cosine similarity of every pair of patch positions: (gh, gw, gh, gw), 1 on the diagonal.

    [r, c] is the map for the patch in row r and column c. The class token's position is omitted. block is
    the one whose positions these are, if every block has its own. Returns None if no vector belongs to a
    patch: without positions, and with relative ones.
    """
    table = position_table(config, params, None if config.position_at == "stem" else block)
    if table is None:
        return None
    e = to_numpy(table).astype(np.float64)[config.prefix :]  # (T, D)
    e = e / np.maximum(np.linalg.norm(e, axis=1, keepdims=True), 1e-12)
    return (e @ e.T).reshape(*config.grid, *config.grid)  #                                  eq. 1


def offset_scores(config: ViTConfig, params: Params) -> np.ndarray | None:
    """The score of every offset in the plane: (layers, heads, 2 gh - 1, 2 gw - 1), the query in the middle.

    Returns None for a model without relative positions. In a new model all scores are 0.
    """
    if config.position != "relative":
        return None
    (gh, gw), N, H = config.grid, config.tokens, config.heads
    a, b = np.arange(1 - gh, gh)[:, None], np.arange(1 - gw, gw)
    rows = N - 1 + a * gw + b  # of the table, in which row m has offset N - 1 - m
    return np.stack([_scores(config, params, i, H)[:, rows] for i in range(config.layers)])


def _scores(config: ViTConfig, params: Params, i: int, H: int) -> np.ndarray:
    """Eq. 1 for every row of the table of block i: (H, 2N - 1)."""
    D = config.width
    _, b = (to_numpy(part).astype(np.float64) for part in params.group(f"blocks.{i}.norm1"))
    arrays = attention_weights(config, params, f"blocks.{i}")[:2]
    weight, bias = (to_numpy(array).astype(np.float64) for array in arrays)
    q = (b @ weight[:, :D] + bias[:D]).reshape(H, -1)  # (H, K)
    if config.qk_norm:
        scale, shift = (to_numpy(part).astype(np.float64) for part in params.group(f"blocks.{i}.q_norm"))
        q, _ = layer_norm(q, scale, shift, config.eps)
    table = to_numpy(params[part_of(config, i)]).astype(np.float64)  # (2N - 1, K)
    return q @ table.T / math.sqrt(q.shape[1])
