"""A model's attention as plain nested lists, and small models to take it from."""

import numpy as np
from hypothesis import strategies as st

import tinyvit
from tests.helpers import seeds, tiny_config
from tinyvit import model as core


def models():
    """Small models with random parameters, not those of a new model, and images for them."""
    return st.builds(
        made,
        st.sampled_from([(8, 8), (8, 12), (16, 4), (4, 4)]),
        st.integers(1, 3),
        st.sampled_from([1, 2, 3]),
        st.sampled_from(["token", "mean"]),
        st.sampled_from(["1d", "relative"]),
        seeds(),
    )


def made(size, layers, heads, pool, position, seed):
    """A model whose attention is far from uniform, and two images (2, H, W, 3) uint8."""
    config = tiny_config(image_size=size, layers=layers, heads=heads, pool=pool, position=position)
    params, rng = core.initialise(config, 0), np.random.default_rng(seed)
    params.flat[:] = rng.normal(0, 0.4, params.flat.shape)
    return tinyvit.Model(config, params), rng.integers(0, 256, (2, *size, 3), dtype=np.uint8)


def places(config):
    """The row and column of every token; None for the class token."""
    rows, columns = config.grid
    patches = [(r, c) for r in range(rows) for c in range(columns)]
    return [None, *patches] if config.has_token else patches
