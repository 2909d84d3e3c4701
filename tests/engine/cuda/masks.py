"""Masks for tests of kernels: as the kernels are told of them, and their values from the reference."""

import numpy as np

from tinyvit import ops
from tinyvit.engine.cuda.calls.noise import Mask, noise_keys
from tinyvit.engine.cuda.launch import Buffer


def make_mask(images, tokens, width, dropout, path, seed=3):
    """A Mask with these two rates, the values of its buffer 'keys', and what it multiplies: (rows, width).

    The images are number 5 and following of their batch.
    """
    sites = 4
    noise = ops.Noise(seed, step=11, first=5)
    noise.uniform((1, 1), np)  # a draw of some other part of the model, at site 0
    m = np.ones((images, tokens, width))
    m, _ = ops.dropout(m, dropout, noise)
    m, _ = ops.drop_path(m, path, noise)
    keys = noise_keys(seed, 11, 5, sites)
    mask = Mask(dropout, 1, path, 2 if dropout else 1, tokens, Buffer("keys", (1 + sites, 2), "uint32"))
    return mask, keys, m.reshape(images * tokens, width)
