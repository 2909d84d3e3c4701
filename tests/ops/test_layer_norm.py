import statistics

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.helpers import seeds
from tinyvit.ops import layer_norm, layer_norm_backward


@settings(max_examples=40)
@given(
    shape=st.lists(st.integers(1, 5), min_size=1, max_size=4).map(tuple),
    eps=st.sampled_from([1e-12, 1e-6, 0.5]),
    seed=seeds(),
)
def test_forward_equals_the_formula_row_by_row(shape, eps, seed):
    rng, D = np.random.default_rng(seed), shape[-1]
    x, weight, bias = rng.normal(2, 3, shape), rng.normal(1, 0.5, D), rng.standard_normal(D)
    y, _ = layer_norm(x, weight, bias, eps)
    for row, result in zip(x.reshape(-1, D).tolist(), y.reshape(-1, D), strict=True):
        mean, variance = statistics.fmean(row), statistics.pvariance(row)
        expected = [
            (n - mean) / (variance + eps) ** 0.5 * w + b for n, w, b in zip(row, weight, bias, strict=True)
        ]
        np.testing.assert_allclose(result, expected, rtol=1e-8, atol=1e-8)


def test_the_default_eps_is_that_of_the_official_code():
    x = np.array([[1e-3, -1e-3, 3e-3, -3e-3]])  # variance 5e-6
    y, _ = layer_norm(x, np.ones(4), np.zeros(4))
    np.testing.assert_allclose(y, x / np.sqrt(6e-6), rtol=1e-12)


def test_a_row_of_equal_numbers_becomes_the_bias():
    bias = np.array([1.0, 2.0, 3.0, 4.0], "float32")
    y, cache = layer_norm(np.full((2, 4), 100.0, "float32"), np.full(4, 5.0, "float32"), bias)
    np.testing.assert_allclose(y, [bias, bias], atol=1e-3)
    assert np.isfinite(layer_norm_backward(np.ones_like(y), cache)[0]).all()


@pytest.mark.parametrize("blind_to", ["a shift", "a stretch"])
def test_the_gradient_has_no_part_along_what_the_output_cannot_see(blind_to):
    rng = np.random.default_rng(3)
    x = rng.standard_normal((5, 8))
    _, cache = layer_norm(x, rng.normal(1, 0.5, 8), rng.standard_normal(8), eps=1e-12)
    dx, _, _ = layer_norm_backward(rng.standard_normal((5, 8)), cache)
    direction = np.ones((5, 8)) if blind_to == "a shift" else x - x.mean(axis=1, keepdims=True)
    np.testing.assert_allclose((dx * direction).sum(axis=1), 0, atol=1e-10)
    assert np.abs(dx).min(axis=1).max() > 1e-3


@pytest.mark.parametrize("mean", [1e3, 1e4, 1e5])
def test_numbers_far_from_zero_keep_their_spread_in_float32(mean):
    """In one pass the variance would be mean(x^2) - mean(x)^2: 21.25, lost between numbers of 10^8."""
    x = np.float32(mean) + np.arange(16, dtype="float32")[None]
    y, _ = layer_norm(x, np.ones(16, "float32"), np.zeros(16, "float32"))
    expected = (np.arange(16) - 7.5) / np.arange(16).std()
    np.testing.assert_allclose(y[0], expected, atol=1e-3)
