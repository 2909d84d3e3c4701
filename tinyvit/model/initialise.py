"""Fresh parameters, as the official code draws them."""

from __future__ import annotations

import numpy as np

from tinyvit.model.config import ViTConfig
from tinyvit.model.layout import layout
from tinyvit.model.params import Params


def initialise(config: ViTConfig, seed: int = 0, dtype: str = "float32") -> Params:
    """Fresh parameters, the same for the same seed on every machine.

    Patch embedding and pre_logits: LeCun normal. Class token, biases, head: zeros. Position embedding: N(0,
    0.02). q, k, v and output matrices: Xavier-uniform, each as its own D x D. MLP: Xavier-uniform, its
    biases N(0, 1e-6). LayerNorm: gain 1, offset 0.
    """
    rng = np.random.Generator(np.random.Philox(seed))
    params = Params.zeros(layout(config), dtype)
    for row in params.rows:
        params[row.name] = row.first(rng, row.shape)
    return params
