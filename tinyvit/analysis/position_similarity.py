"""What the position embeddings know of the plane (ViT Figure 7, centre): which places the model finds alike.

Position i has a learned vector e_i. Nobody tells the model that the patches form a grid; whether it has found
out shows in the cosines

    similarity(i, j) = e_i . e_j / (|e_i| |e_j|)                                           (1)

laid out as the patches lie: neighbours, rows and columns should be alike.
"""

from __future__ import annotations

import numpy as np

from tinyvit.backend import to_numpy
from tinyvit.model import Params, ViTConfig


def position_similarity(config: ViTConfig, params: Params) -> np.ndarray:
    """Cosine similarity of every patch position with every other: (gh, gw, gh, gw), 1 on the diagonal.

    [r, c] is the map for the patch in row r and column c. The class token's position is left out.
    """
    e = to_numpy(params["position"]).astype(np.float64)[config.has_token :]  # (T, D)
    e = e / np.maximum(np.linalg.norm(e, axis=1, keepdims=True), 1e-12)
    return (e @ e.T).reshape(*config.grid, *config.grid)  #                                  eq. 1
