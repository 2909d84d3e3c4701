"""Initial parameters, drawn as in the official code."""

from __future__ import annotations

import numpy as np

from tinyvit.model.config import ViTConfig
from tinyvit.model.layout import layout
from tinyvit.model.params import Params


def initialise(config: ViTConfig, seed: int = 0, dtype: str = "float32") -> Params:
    """Initial parameters, the same for the same seed on every machine.

    Patch embedding and pre_logits: LeCun normal. Class token, biases, head: zeros. Position embedding: normal
    with standard deviation 0.02. q, k, v and output matrices: Xavier-uniform, each as a separate D x D
    matrix. MLP: Xavier-uniform, with normal biases of standard deviation 1e-6. LayerNorm: gain 1, offset 0.
    A hybrid's kernels: LeCun normal. GroupNorm: gain 1, but 0 in the last of each unit, offset 0.
    """
    rng = np.random.Generator(np.random.Philox(seed))
    params = Params.zeros(layout(config), dtype)
    for row in params.rows:
        params[row.name] = row.first(rng, row.shape)
    return params
