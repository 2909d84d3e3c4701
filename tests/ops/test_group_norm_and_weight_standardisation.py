import statistics

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.helpers import distance, seeds
from tinyvit.ops import (
    group_norm,
    group_norm_backward,
    layer_norm,
    layer_norm_backward,
    weight_standardisation,
    weight_standardisation_backward,
)


@settings(max_examples=30)
@given(
    B=st.integers(1, 3),
    H=st.integers(1, 4),
    W=st.integers(1, 4),
    groups=st.integers(1, 3),
    each=st.integers(1, 4),
    eps=st.sampled_from([1e-6, 0.5]),
    seed=seeds(),
)
def test_group_norm_equals_the_formula_group_by_group(B, H, W, groups, each, eps, seed):
    rng, C = np.random.default_rng(seed), groups * each
    x, weight, bias = rng.normal(2, 3, (B, H, W, C)), rng.normal(1, 0.5, C), rng.standard_normal(C)
    y, _ = group_norm(x, weight, bias, groups, eps)
    for b, g in np.ndindex(B, groups):
        channels = slice(g * each, (g + 1) * each)
        numbers = x[b, :, :, channels].ravel().tolist()
        mean, variance = statistics.fmean(numbers), statistics.pvariance(numbers)
        n = (x[b, :, :, channels] - mean) / (variance + eps) ** 0.5
        np.testing.assert_allclose(
            y[b, :, :, channels], n * weight[channels] + bias[channels], rtol=1e-7, atol=1e-7
        )


def test_by_default_there_are_32_groups_and_eps_is_that_of_the_official_code():
    x = np.zeros((1, 1, 2, 64))
    x[0, 0, 0], x[0, 0, 1] = 1e-3, -1e-3  # variance 1e-6 in every group
    x += np.repeat(np.arange(32.0), 2)
    y, _ = group_norm(x, np.ones(64), np.zeros(64))
    np.testing.assert_allclose(y[0, 0, 0], 2**-0.5, rtol=1e-9)
    np.testing.assert_allclose(y[0, 0, 1], -(2**-0.5), rtol=1e-9)


def test_one_group_is_a_layer_norm_over_the_whole_image():
    rng = np.random.default_rng(0)
    x, dy = rng.standard_normal((2, 3, 4, 5, 6))
    y, cache = group_norm(x, np.full(6, 2.0), np.ones(6), groups=1)
    flat = 3, 120
    expected, layer_cache = layer_norm(x.reshape(flat), np.full(120, 2.0), np.ones(120))
    np.testing.assert_allclose(y.reshape(flat), expected, atol=1e-12)
    dx, _, _ = layer_norm_backward(dy.reshape(flat), layer_cache)
    np.testing.assert_allclose(group_norm_backward(dy, cache)[0].reshape(flat), dx, atol=1e-12)


def test_another_image_in_the_batch_changes_nothing():
    rng = np.random.default_rng(0)
    x, weight, bias = rng.standard_normal((4, 3, 3, 8)), rng.normal(1, 0.5, 8), rng.standard_normal(8)
    together, _ = group_norm(x, weight, bias, groups=2)
    for image, expected in zip(x, together, strict=True):
        np.testing.assert_allclose(
            group_norm(image[None], weight, bias, groups=2)[0][0], expected, atol=1e-14
        )


@pytest.mark.parametrize("blind_to", ["a shift", "a stretch"])
def test_the_gradient_has_no_part_along_what_group_norm_cannot_see(blind_to):
    rng = np.random.default_rng(3)
    x = rng.standard_normal((2, 3, 4, 6))
    _, cache = group_norm(x, rng.normal(1, 0.5, 6), rng.standard_normal(6), groups=2, eps=1e-12)
    dx, _, _ = group_norm_backward(rng.standard_normal(x.shape), cache)
    per_group = (2, 12, 2, 3)
    direction = np.ones(per_group)
    if blind_to == "a stretch":
        direction = x.reshape(per_group) - x.reshape(per_group).mean(axis=(1, 3), keepdims=True)
    np.testing.assert_allclose((dx.reshape(per_group) * direction).sum(axis=(1, 3)), 0, atol=1e-10)


@pytest.mark.parametrize("mean", [1e3, 1e4])
def test_images_far_from_zero_keep_their_spread_in_float32(mean):
    rng = np.random.default_rng(0)
    x = (np.float32(mean) + rng.integers(0, 16, (2, 8, 8, 64))).astype("float32")
    y, _ = group_norm(x, np.ones(64, "float32"), np.zeros(64, "float32"))
    expected, _ = group_norm(x.astype("float64"), np.ones(64), np.zeros(64))
    assert y.dtype == "float32" and distance(y, expected) < 1e-3


def test_channels_that_cannot_be_split_evenly_are_refused():
    with pytest.raises(ValueError, match="48 channels cannot be split into 32 groups"):
        group_norm(np.zeros((1, 2, 2, 48)), np.ones(48), np.zeros(48))


@settings(max_examples=30)
@given(k=st.sampled_from([1, 3]), I=st.integers(2, 4), O=st.integers(1, 3), seed=seeds())
def test_weight_standardisation_equals_the_formula_channel_by_channel(k, I, O, seed):
    w = np.random.default_rng(seed).normal(0.5, 2, (k, k, I, O))
    y, _ = weight_standardisation(w)
    for o in range(O):
        numbers = w[..., o].ravel().tolist()
        mean, deviation = statistics.fmean(numbers), statistics.pstdev(numbers)
        np.testing.assert_allclose(y[..., o], (w[..., o] - mean) / (deviation + 1e-5), rtol=1e-9, atol=1e-9)


def test_eps_is_added_to_the_standard_deviation_as_in_the_official_code():
    w = np.array([3e-5, -3e-5]).reshape(1, 1, 2, 1)
    np.testing.assert_allclose(weight_standardisation(w)[0].ravel(), [0.75, -0.75], rtol=1e-12)


@pytest.mark.parametrize("shape", [(1, 1, 1, 4), (3, 3, 2, 4)], ids=str)
def test_equal_weights_become_zero_and_so_does_their_gradient_where_one_weight_is_all(shape):
    y, cache = weight_standardisation(np.full(shape, 0.5, "float32"))
    np.testing.assert_array_equal(y, 0)
    dw = weight_standardisation_backward(np.ones(shape, "float32"), cache)
    np.testing.assert_array_equal(dw, 0)
    assert y.dtype == dw.dtype == "float32"


def test_the_scale_and_the_mean_of_a_kernel_do_not_matter():
    rng = np.random.default_rng(0)
    w, dy = rng.standard_normal((2, 3, 3, 4, 5))
    y, cache = weight_standardisation(w)
    np.testing.assert_allclose(weight_standardisation(7 * w + 3)[0], y, rtol=1e-4)
    dw = weight_standardisation_backward(dy, cache)
    np.testing.assert_allclose(dw.sum(axis=(0, 1, 2)), 0, atol=1e-12)
    np.testing.assert_allclose((dw * w).sum(axis=(0, 1, 2)), 0, atol=1e-3)


def test_in_root_eps_is_added_to_the_variance():
    w = np.array([1.0, 2.0, 6.0]).reshape(1, 1, 3, 1)  # mean 3, variance 14/3
    y, _ = weight_standardisation(w, 4 / 3, in_root=True)
    np.testing.assert_allclose(y.ravel(), np.array([-2, -1, 3]) / np.sqrt(6))
