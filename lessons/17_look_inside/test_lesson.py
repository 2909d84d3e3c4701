"""Checks of lesson 17."""

import numpy as np
import pytest

from lessons.referee import assert_same
from tinyvit.checking import random_params
from tinyvit.model import ViTConfig, attention_maps, forward

CONFIG = ViTConfig((8, 12), 4, width=48, mlp_width=16, heads=3, layers=2, classes=5)  # width = 4 * 4 * 3
SMALL = ViTConfig(8, 2, width=20, mlp_width=16, heads=2, layers=1, classes=5)  # 12 numbers a patch


def parameters(config=CONFIG, seed=0):
    return random_params(config, np.random.default_rng(seed))


def planted(strengths, seed=1):
    """Parameters whose embedding answers to known patterns, the columns of U, with known strengths."""
    rng = np.random.default_rng(seed)
    params, size = parameters(), CONFIG.width
    U, _ = np.linalg.qr(rng.normal(size=(size, len(strengths))))
    V, _ = np.linalg.qr(rng.normal(size=(size, len(strengths))))
    params["patch.weight"] = U @ np.diag(strengths) @ V.T
    return params, U


@pytest.mark.hint("np.linalg.svd returns U, s, Vh; the columns of U are patterns of pixels, strongest first")
def test_planted_patterns_are_found_strongest_first(impl):
    params, U = planted([1.0, 5.0, 3.0])
    filters = impl.embedding_filters(CONFIG, params, 3)
    assert np.shape(filters) == (3, 4, 4, 3), (
        f"the filters have shape {np.shape(filters)}, expected (3, 4, 4, 3)"
    )
    for place, column, strength in ((0, 1, 5), (1, 2, 3), (2, 0, 1)):
        alike = abs(np.ravel(filters[place]) @ U[:, column])
        assert_same(float(alike), 1.0, f"how like filter {place} is to the pattern of strength {strength}")


@pytest.mark.hint(
    "a row of patch.weight belongs to (row, column, channel) of the patch: reshape to (P, P, C)"
)
def test_a_single_pixel_is_where_it_was(impl):
    params = parameters()
    weight = np.zeros((48, 48))
    weight[(2 * 4 + 3) * 3 + 1, 7] = -2.0  # row 2, column 3, green
    params["patch.weight"] = weight
    expected = np.zeros((1, 4, 4, 3))
    expected[0, 2, 3, 1] = 1
    assert_same(impl.embedding_filters(CONFIG, params, 1), expected, "the filter of one green pixel")


@pytest.mark.hint("the sign of a column of U is free: turn it so that its largest number by size is positive")
def test_filters_have_length_one_right_angles_and_a_fixed_sign(impl):
    filters = impl.embedding_filters(CONFIG, parameters(seed=2), 10).reshape(10, -1)
    assert_same(filters @ filters.T, np.eye(10), "the products of the filters with each other")
    assert_same(filters.max(axis=1), np.abs(filters).max(axis=1), "the largest number of each filter")


@pytest.mark.hint("full_matrices=False, then the first count columns: there are min(P*P*C, D) of them")
def test_no_more_filters_than_there_are(impl):
    filters = impl.embedding_filters(SMALL, parameters(SMALL))
    assert np.shape(filters) == (12, 2, 2, 3), (
        f"the filters have shape {np.shape(filters)}, expected (12, 2, 2, 3)"
    )


@pytest.mark.hint(
    "leave out the class token's row, divide every row by its length, multiply with the transpose"
)
def test_every_cosine_by_hand(impl):
    params = parameters(seed=3)
    places = params["position"][1:]
    expected = np.empty((2, 3, 2, 3))
    for r, c, s, d in np.ndindex(2, 3, 2, 3):
        a, b = places[3 * r + c], places[3 * s + d]
        expected[r, c, s, d] = a @ b / np.sqrt((a @ a) * (b @ b))
    assert_same(impl.position_similarity(CONFIG, params), expected, "the similarity")


@pytest.mark.hint("a mean-pooled model has no class token: leave out a row only if config.has_token")
def test_a_model_without_class_token(impl):
    config = ViTConfig(**(CONFIG.as_dict() | {"pool": "mean"}))
    params = parameters(config, 4)
    e = params["position"] / np.linalg.norm(params["position"], axis=1, keepdims=True)
    assert_same(impl.position_similarity(config, params), (e @ e.T).reshape(2, 3, 2, 3), "the similarity")


def last_block(params, images):
    """A of the class token in the last block, (B, H, N)."""
    _, cache = forward(CONFIG, params, images)
    return attention_maps(cache)[-1][:, :, 0]


@pytest.mark.hint(
    "attention_maps(cache)[-1] is (B, H, 1, N): mean over heads, then the columns of the patches"
)
def test_attention_is_the_mean_over_heads_of_the_last_block(impl):
    params, images = parameters(seed=5), np.random.default_rng(5).normal(size=(4, 8, 12, 3))
    mean = last_block(params, images).mean(axis=1)[:, 1:]
    expected = (mean / mean.sum(axis=1, keepdims=True)).reshape(4, 2, 3)
    assert_same(impl.class_token_attention(CONFIG, params, images), expected, "the attention")


@pytest.mark.hint("leave out what the class token draws from itself, then divide by what remains")
def test_the_shares_of_the_patches_add_up_to_one(impl):
    params, images = parameters(seed=6), np.random.default_rng(6).normal(size=(3, 8, 12, 3))
    attention = impl.class_token_attention(CONFIG, params, images)
    assert np.shape(attention) == (3, 2, 3), (
        f"the attention has shape {np.shape(attention)}, expected (3, 2, 3)"
    )
    assert_same(attention.sum(axis=(1, 2)), np.ones(3), "the sum over the patches")


@pytest.mark.hint("work on copies: params is the model")
def test_the_model_is_left_as_it_was(impl):
    params, images = parameters(seed=7), np.random.default_rng(7).normal(size=(2, 8, 12, 3))
    before = params.flat.copy()
    impl.embedding_filters(CONFIG, params)
    impl.position_similarity(CONFIG, params)
    impl.class_token_attention(CONFIG, params, images)
    assert np.array_equal(before, params.flat), "looking at the model has changed its parameters"
