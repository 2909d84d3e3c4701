"""A model that merges its patches is looked into patch by patch, whatever its grid and pooling are."""

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

import tinyvit
from tests.helpers import seeds, small_models
from tinyvit import ops
from tinyvit.data import normalise
from tinyvit.gradcheck.models import random_params
from tinyvit.insight.attention import came_from
from tinyvit.model import forward, stages
from tinyvit.model.config import POOLS


def merging(**choices):
    """Small models that merge their patches, on grids down to 2 x 2, where one patch is left."""
    usual = {
        "image_size": st.sampled_from([(8, 8), (8, 16), (16, 8)]),
        "layers": st.just(3),
        "merge_after": st.integers(1, 2),
        "registers": st.integers(0, 3),
        "class_token": st.sampled_from([None, True]),
        "pool": st.sampled_from(POOLS),
    }
    return small_models(**usual | choices)


def pooling_by_attention():
    return merging(pool=st.just("attention"), pool_all=st.booleans())


def made(config, seed):
    """The model with random parameters, and four images: as many as patches become one."""
    rng = np.random.default_rng(seed)
    images = rng.integers(0, 256, (4, *config.image_size, 3), dtype=np.uint8)
    return tinyvit.Model(config, random_params(config, rng)), images


@given(merging() | pooling_by_attention(), seeds())
@settings(max_examples=25)
def test_each_of_four_merged_patches_has_their_token_and_its_attention(config, seed):
    model, images = made(config, seed)
    x, columns = normalise(images, np.dtype("float64")), config.grid[1]
    found, attention = model.activations(images), model.attention(images)
    assert attention.shape == (4, config.layers, config.heads, config.tokens, config.tokens)
    np.testing.assert_allclose(attention.sum(axis=-1), 1)
    blocks = {f"blocks.{i}": i for i in range(config.layers)}
    for each in stages(config, all_tokens=True):
        x, _ = each.forward(model.params, x)
        if (i := blocks.get(each.name)) is None:
            continue
        for n, token in np.ndindex(4, config.tokens):
            (r, c), place = divmod(max(token - config.prefix, 0), columns), token
            if i >= config.merge_after and token >= config.prefix:
                place = config.prefix + r // 2 * (columns // 2) + c // 2
            np.testing.assert_allclose(found[n, i, token], x[n, place])


@given(merging(), seeds())
@settings(max_examples=25)
def test_what_has_come_into_four_merged_patches_is_the_same(config, seed):
    model, images = made(config, seed)
    R, (gh, gw) = came_from(config, model.params, normalise(images, np.dtype("float64"))), config.grid
    np.testing.assert_allclose(R.sum(axis=2), 1)
    rows = R[:, config.prefix :].reshape(4, gh // 2, 2, gw // 2, 2, config.tokens)
    np.testing.assert_allclose(rows, np.broadcast_to(rows[:, :, :1, :, :1], rows.shape))


@given(pooling_by_attention(), seeds())
@settings(max_examples=25)
def test_the_map_of_attention_pooling_has_a_quarter_of_a_square_for_each_of_its_patches(config, seed):
    model, images = made(config, seed)
    _, cache = forward(config, model.params, normalise(images, np.dtype("float64")))
    (gh, gw), drawn = config.grid, ops.pool_probabilities(cache.of("pool")[0]).mean(axis=1)
    squares = drawn[:, config.prefix if config.pool_all else 0 :].reshape(4, gh // 2, gw // 2)
    squares /= squares.sum(axis=(1, 2), keepdims=True)
    found = model.attention_map(images)
    assert found.shape == (4, gh, gw)
    for n, r, c in np.ndindex(found.shape):
        np.testing.assert_allclose(found[n, r, c], squares[n, r // 2, c // 2] / 4)
