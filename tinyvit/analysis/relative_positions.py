"""What each head gives to offsets between patches by itself, in a model with relative positions (ViT D.4).

A query q_i scores the offset d to token j with its vector r_d: S_ij = q_i . r_d / sqrt(K), beside the product
with the key (see ops.relative_scores). The normalised token that makes q_i is n_i w + b, and n_i differs from
token to token. What is left for n_i = 0 depends on no token, and so it is what the head has learned about
places alone:

    q = b Wq + bq        score(d) = q . r_d / sqrt(K)                                      (1)

Tokens are numbered row by row, so a patch a rows down and b columns to the right of the query's is i - j =
-(a gw + b) away. Two such places share one offset, and one score, where a row ends: in a grid of 8 columns, 7
to the right is also 1 down and 1 to the left.
"""

import math

import numpy as np

from tinyvit.backend import to_numpy
from tinyvit.model import Params, ViTConfig
from tinyvit.model.positions import relative_part


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
    weight, bias = (to_numpy(part).astype(np.float64) for part in params.group(f"blocks.{i}.attn")[:2])
    q = (b @ weight[:, :D] + bias[:D]).reshape(H, -1)  # (H, K)
    part = relative_part(config, i)
    assert part, "the model has relative positions"
    table = to_numpy(params[part]).astype(np.float64)  # (2N - 1, K)
    return q @ table.T / math.sqrt(q.shape[1])
