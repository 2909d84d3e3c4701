"""What the position embeddings have learned about the plane (ViT Figure 7, centre): their similarities.

Position i has a learned vector e_i. The model is not told that the patches form a grid. Whether it has
learned so is shown by the cosines

    similarity(i, j) = e_i . e_j / (|e_i| |e_j|)                                           (1)

arranged like the patches: neighbouring positions, and those in the same row or column, should be similar. In
a model that adds positions before every block, they are those of the first, since the figure in the paper
shows positions that are added there.
"""

import numpy as np

from tinyvit.backend import to_numpy
from tinyvit.model import Params, ViTConfig
from tinyvit.model.positions import position_table


def position_similarity(config: ViTConfig, params: Params, block: int = 0) -> np.ndarray | None:
    """The cosine similarity of every pair of patch positions: (gh, gw, gh, gw), 1 on the diagonal.

    [r, c] is the map for the patch in row r and column c. The class token's position is omitted. block is
    the one whose positions these are, if every block has its own. Returns None if no vector belongs to a
    patch: without positions, and with relative ones.
    """
    table, _ = position_table(config, params, None if config.position_at == "stem" else block)
    if table is None:
        return None
    e = to_numpy(table).astype(np.float64)[config.has_token :]  # (T, D)
    e = e / np.maximum(np.linalg.norm(e, axis=1, keepdims=True), 1e-12)
    return (e @ e.T).reshape(*config.grid, *config.grid)  #                                  eq. 1
