"""Initial parameters, drawn as in the official code, or with mimetic attention."""

import numpy as np

from tinyvit.model.config import ViTConfig
from tinyvit.model.layout import layout
from tinyvit.model.mimetic import make_mimetic
from tinyvit.model.params import Params
from tinyvit.support.errors import UserError

INITS = ("official", "mimetic")


def initialise(config: ViTConfig, seed: int = 0, dtype: str = "float32", init: str = "official") -> Params:
    """Initial parameters, for the same seed the same on every machine, mimetic ones to within rounding.

    Patch embedding and pre_logits: LeCun normal. Class token, biases, head: zeros. Position embedding: normal
    with standard deviation 0.02. q, k, v and output matrices: Xavier-uniform, each as a separate D x D
    matrix. MLP: Xavier-uniform, with normal biases of standard deviation 1e-6. LayerNorm: gain 1, offset 0.
    A hybrid's kernels: LeCun normal. GroupNorm: gain 1, but 0 in the last of each unit, offset 0.

    init is one of INITS. With 'mimetic', the matrices of attention and the positions differ: see
    model.mimetic. Raises UserError for another name, or if the model cannot have such values.
    """
    if init not in INITS:
        raise UserError(f"init is {init!r}, expected one of {', '.join(INITS)}.")
    bits = np.random.Philox(seed)
    mimetic_rng = np.random.Generator(bits.jumped())  # numbers of its own: all others stay as they were
    rng = np.random.Generator(bits)
    params = Params.zeros(layout(config), dtype)
    for spec in params.rows:
        params[spec.name] = spec.init(rng, spec.shape)
    if init == "mimetic":
        make_mimetic(config, params, mimetic_rng)
    return params
