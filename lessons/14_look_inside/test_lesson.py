"""Checks of lesson 14."""

import numpy as np
import pytest

from lessons.referee import assert_same
from tinyvit.gradcheck import random_params
from tinyvit.model import ViTConfig, attention_maps

# Every size is a number of its own: patches of 4, width 45, 3 heads, a grid of 2 by 5, 4 or 2 images.
CONFIG = ViTConfig((8, 20), 4, width=45, mlp_width=16, heads=3, layers=2, classes=6)
SMALL = ViTConfig(8, 2, width=20, mlp_width=16, heads=2, layers=1, classes=5)  # 12 numbers a patch
WIDE = ViTConfig((10, 15), 5, width=9, mlp_width=16, heads=3, layers=1, classes=4)  # 75 numbers, 9 columns


def parameters(config=CONFIG, seed=0):
    return random_params(config, np.random.default_rng(seed))


def pictures(count, seed):
    return np.random.default_rng(seed).normal(size=(count, 8, 20, 3))


def planted(strengths, seed=1):
    """Parameters whose embedding answers to known patterns, the columns of U, with known strengths."""
    rng = np.random.default_rng(seed)
    params = parameters()
    U, _ = np.linalg.qr(rng.normal(size=(48, len(strengths))))
    V, _ = np.linalg.qr(rng.normal(size=(45, len(strengths))))
    params["patch.weight"] = U @ np.diag(strengths) @ V.T
    return params, U


@pytest.mark.hint(
    "np.linalg.svd returns U, s, Vh; the columns of U are patterns of pixels, strongest first",
    shape="count filters of (P, P, C): the columns of U, each as long as a patch",
)
def test_planted_patterns_are_found_strongest_first(impl):
    params, U = planted([1.0, 5.0, 3.0])
    filters = impl.embedding_filters(CONFIG, params, 3)
    assert np.shape(filters) == (3, 4, 4, 3), (
        f"the filters have shape {np.shape(filters)}, expected (3, 4, 4, 3)"
    )
    for index, column, strength in ((0, 1, 5), (1, 2, 3), (2, 0, 1)):
        alike = abs(np.ravel(filters[index]) @ U[:, column])
        assert_same(float(alike), 1.0, f"how like filter {index} is to the pattern of strength {strength}")


@pytest.mark.hint(
    "a row of patch.weight belongs to (row, column, channel) of the patch: reshape to (P, P, C)"
)
def test_a_single_pixel_is_where_it_was(impl):
    params = parameters()
    for row, column, channel in ((2, 3, 1), (0, 1, 2)):
        weight = np.zeros((48, 45))
        weight[(row * 4 + column) * 3 + channel, 7] = -2.0
        params["patch.weight"] = weight
        expected = np.zeros((1, 4, 4, 3))
        expected[0, row, column, channel] = 1
        name = f"the filter of one number, row {row}, column {column}, channel {channel}"
        assert_same(impl.embedding_filters(CONFIG, params, 1), expected, name)


@pytest.mark.hint("the sign of a column of U is free: turn it so that its largest number by size is positive")
def test_filters_have_length_one_right_angles_and_a_fixed_sign(impl):
    for seed in range(2, 6):
        filters = impl.embedding_filters(CONFIG, parameters(seed=seed), 10).reshape(10, -1)
        assert_same(filters @ filters.T, np.eye(10), "the products of the filters with each other")
        assert_same(filters.max(axis=1), np.abs(filters).max(axis=1), "the largest number of each filter")


@pytest.mark.hint("full_matrices=False, then the first count columns: there are min(P*P*C, D) of them")
def test_no_more_filters_than_there_are(impl):
    for config, most, side in ((SMALL, 12, 2), (WIDE, 9, 5)):
        params = parameters(config)
        for count in (most + 3, 5):
            filters = impl.embedding_filters(config, params, count)
            expected = (min(count, most), side, side, 3)
            assert np.shape(filters) == expected, (
                f"{count} filters asked for: shape {np.shape(filters)}, expected {expected}"
            )
    default = impl.embedding_filters(CONFIG, parameters())
    assert len(default) == 28, f"without a count there are {len(default)} filters, expected 28"


@pytest.mark.hint(
    "leave out the class token's row, divide every row by its length, multiply with the transpose"
)
def test_every_cosine_by_hand(impl):
    params = parameters(seed=3)
    params["position"][3] *= 50
    params["position"][4] *= 0.02
    patches = params["position"][1:]
    expected = np.empty((2, 5, 2, 5))
    for r, c, s, d in np.ndindex(2, 5, 2, 5):
        a, b = patches[5 * r + c], patches[5 * s + d]
        expected[r, c, s, d] = a @ b / np.sqrt((a @ a) * (b @ b))
    assert_same(impl.position_similarity(CONFIG, params), expected, "the similarity")


@pytest.mark.hint("a mean-pooled model has no class token: leave out a row only if config.has_token")
def test_a_model_without_class_token(impl):
    config = ViTConfig(**(CONFIG.as_dict() | {"pool": "mean"}))
    params = parameters(config, 4)
    e = params["position"] / np.linalg.norm(params["position"], axis=1, keepdims=True)
    assert_same(impl.position_similarity(config, params), (e @ e.T).reshape(2, 5, 2, 5), "the similarity")


def last_block(params, images, block=-1):
    """A of the class token in a block, (B, H, N)."""
    return list(attention_maps(CONFIG, params, images))[block][:, :, 0]


@pytest.mark.hint(
    "the last of attention_maps is (B, H, N, N): the mean over heads, the class token's row, the patches",
    shape="a map for each image, laid out as the grid: (B, gh, gw)",
)
@pytest.mark.parametrize("count", [4, 1])
def test_attention_is_the_mean_over_heads_of_the_last_block(impl, count):
    params, images = parameters(seed=5), pictures(count, 5)
    heads = last_block(params, images)[:, :, 1:]
    mean = heads.mean(axis=1)
    expected = (mean / mean.sum(axis=1, keepdims=True)).reshape(count, 2, 5)
    assert_same(impl.class_token_attention(CONFIG, params, images), expected, "the attention")


@pytest.mark.hint("average the heads first, then leave out the class token, then divide by what remains")
def test_heads_are_averaged_before_the_shares_are_taken(impl):
    params, images = parameters(seed=8), pictures(2, 8)
    params["blocks.1.attn.qkv.weight"] *= 0.3  # heads that differ much in what they leave for the class token
    heads = last_block(params, images)[:, :, 1:]
    mean, each = heads.mean(axis=1), (heads / heads.sum(axis=2, keepdims=True)).mean(axis=1)
    expected = mean / mean.sum(axis=1, keepdims=True)
    assert np.abs(expected - each).max() > 1e-4  # the two orders differ
    got = impl.class_token_attention(CONFIG, params, images)
    assert_same(got, expected.reshape(2, 2, 5), "the attention")


@pytest.mark.hint("leave out what the class token draws from itself, then divide by what remains")
def test_the_shares_of_the_patches_add_up_to_one_for_each_image(impl):
    params, images = parameters(seed=6), pictures(3, 6)
    attention = impl.class_token_attention(CONFIG, params, images)
    assert np.shape(attention) == (3, 2, 5), (
        f"the attention has shape {np.shape(attention)}, expected (3, 2, 5)"
    )
    assert_same(attention.sum(axis=(1, 2)), np.ones(3), "the sum over the patches")


@pytest.mark.hint("work on copies: params is the model")
def test_the_model_is_left_as_it_was(impl):
    params, images = parameters(seed=7), pictures(2, 7)
    before, pixels = params.flat.copy(), images.copy()
    impl.embedding_filters(CONFIG, params)
    impl.position_similarity(CONFIG, params)
    impl.class_token_attention(CONFIG, params, images)
    assert np.array_equal(before, params.flat), "looking at the model has changed its parameters"
    assert np.array_equal(pixels, images), "looking at the model has changed the images"


def some_attention(n, layers, heads, N, seed=0):
    """Attention of random shares, of which each row adds up to 1."""
    A = np.random.default_rng(seed).gamma(0.5, size=(n, layers, heads, N, N))
    return A / A.sum(axis=-1, keepdims=True)


def followed(A):
    """Rollout of one image, by following every path: A (layers, heads, N, N)."""
    layers, heads, N, _ = A.shape
    result = np.zeros((N, N))

    def walk(start, token, layer, share):
        if layer < 0:
            result[start, token] += share
            return
        for source in range(N):
            passed = 0.5 * (source == token)
            for head in range(heads):
                passed += 0.5 * A[layer, head, token, source] / heads
            walk(start, source, layer - 1, share * passed)

    for start in range(N):
        walk(start, start, layers - 1, 1.0)
    return result


@pytest.mark.puzzle
@pytest.mark.hint(
    "what leaves a block is a mixture of what entered it, which is a mixture of what entered the one before",
    shape="(n, N, N): one matrix for each image",
)
@pytest.mark.parametrize("sizes", [(1, 1, 1, 3), (1, 2, 1, 3), (2, 3, 2, 4), (3, 1, 4, 5)])
def test_rollout_is_what_all_paths_add_up_to(impl, sizes):
    A = some_attention(*sizes)
    before = A.copy()
    expected = np.stack([followed(image) for image in A])
    assert_same(impl.attention_rollout(A), expected, f"the rollout of (n, layers, heads, N) = {sizes}")
    assert np.array_equal(before, A), "the attention was changed in place"


@pytest.mark.puzzle
@pytest.mark.hint("each row says where one token comes from, so it adds up to 1")
def test_rows_of_a_rollout_add_up_to_one(impl):
    got = impl.attention_rollout(some_attention(2, 6, 3, 7, 1))
    assert_same(got.sum(axis=-1), np.ones((2, 7)), "the sum of each row")


@pytest.mark.puzzle
@pytest.mark.hint("blocks that pass every token on as it is, and nothing else, leave every token as it is")
def test_attention_that_looks_only_at_itself_changes_nothing(impl):
    A = np.broadcast_to(np.eye(5, dtype=np.float32), (2, 3, 4, 5, 5))
    expected = np.broadcast_to(np.eye(5, dtype=np.float32), (2, 5, 5))
    assert_same(impl.attention_rollout(A), expected, "the rollout of identities", 1e-6)
