"""Dropout and stochastic depth."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.helpers import dtypes, seeds
from tinyvit.ops import Noise, drop_path, drop_path_backward, dropout, dropout_backward

BOTH = pytest.mark.parametrize("drop", [dropout, drop_path])
rates = st.sampled_from([0.1, 0.25, 0.5, 0.9])


@BOTH
@pytest.mark.parametrize("rate", [0.1, 0.5, 0.9])
def test_the_expected_value_stays_what_it_was(drop, rate):
    count = 40_000
    y, _ = drop(np.ones((count, 1, 1)), rate, Noise(1, 2))
    assert abs(y.mean() - 1) < 5 * np.sqrt(rate / (1 - rate) / count)  # five standard errors


@settings(max_examples=30)
@given(rate=rates, seed=seeds(), dtype=dtypes())
def test_dropout_keeps_a_number_enlarged_or_makes_it_zero(rate, seed, dtype):
    x = np.random.default_rng(seed).standard_normal((3, 4, 5)).astype(dtype)
    y, cache = dropout(x, rate, Noise(seed, 1))
    kept = y != 0
    np.testing.assert_allclose(y[kept], x[kept] / (1 - rate), rtol=1e-6)
    np.testing.assert_array_equal(dropout_backward(np.ones_like(x), cache) != 0, kept)


def test_dropout_chooses_numbers_and_stochastic_depth_whole_images():
    x = np.random.default_rng(1).standard_normal((60, 4, 5))
    kept = dropout(x, 0.5, Noise(1, 2))[0].reshape(60, 20) != 0
    assert not kept.all(axis=1).any() and kept.any(axis=1).all()
    y, cache = drop_path(x, 0.5, Noise(1, 2))
    kept = (y != 0).reshape(60, 20)
    whole = kept.all(axis=1)
    np.testing.assert_array_equal(kept.any(axis=1), whole)
    assert 15 < whole.sum() < 45
    np.testing.assert_allclose(y[whole], 2 * x[whole])
    dx = drop_path_backward(np.ones_like(x), cache)
    np.testing.assert_array_equal(dx, np.where(whole, 2.0, 0.0)[:, None, None] * np.ones_like(x))


@BOTH
def test_the_rate_is_that_of_being_dropped(drop):
    y, _ = drop(np.ones((20_000, 1, 1)), 0.2, Noise(3, 4))
    assert abs((y == 0).mean() - 0.2) < 0.015


@BOTH
@pytest.mark.parametrize("rate, noise", [(0.0, Noise(1, 1)), (0.5, None)])
def test_nothing_is_dropped_in_use_or_at_rate_zero(drop, rate, noise):
    x = np.random.default_rng(1).standard_normal((3, 4, 5))
    y, cache = drop(x, rate, noise)
    assert y is x and cache is None
    assert dropout_backward(x, cache) is x


@BOTH
def test_the_same_noise_drops_the_same_and_a_second_draw_others(drop):
    x, noise = np.ones((200, 4, 1)), Noise(1, 2)
    first, second = drop(x, 0.5, noise)[0], drop(x, 0.5, noise)[0]
    np.testing.assert_array_equal(first, drop(x, 0.5, Noise(1, 2))[0])
    assert 0.3 < (first != second).mean() < 0.7


@BOTH
@settings(max_examples=30)
@given(cut=st.integers(1, 9), start=st.integers(0, 1000), seed=seeds())
def test_a_batch_cut_in_pieces_is_dropped_as_the_whole(drop, cut, start, seed):
    x = np.ones((10, 3, 2))
    whole, _ = drop(x, 0.5, Noise(seed, 1, first=start))
    pieces = [
        drop(x[:cut], 0.5, Noise(seed, 1, start))[0],
        drop(x[cut:], 0.5, Noise(seed, 1, start + cut))[0],
    ]
    np.testing.assert_array_equal(np.concatenate(pieces), whole)
