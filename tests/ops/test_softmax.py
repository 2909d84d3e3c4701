import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.helpers import dtypes, seeds
from tinyvit.ops import softmax, softmax_backward

shapes = st.lists(st.integers(1, 6), min_size=1, max_size=4).map(tuple)


@settings(max_examples=40)
@given(shape=shapes, seed=seeds())
def test_forward_equals_the_formula_row_by_row(shape, seed):
    x = 3 * np.random.default_rng(seed).standard_normal(shape)
    y, _ = softmax(x)
    for row, result in zip(x.reshape(-1, shape[-1]), y.reshape(-1, shape[-1]), strict=True):
        exps = [math.exp(number) for number in row]
        np.testing.assert_allclose(result, [e / sum(exps) for e in exps], rtol=1e-13)


@given(shape=shapes, seed=seeds(), dtype=dtypes(), constant=st.floats(-1000, 1000))
def test_a_constant_added_to_a_row_changes_nothing(shape, seed, dtype, constant):
    x = np.random.default_rng(seed).standard_normal(shape).astype(dtype)
    tolerance = 4000 * np.finfo(dtype).eps  # what is lost when the constant is added
    np.testing.assert_allclose(softmax(x + constant)[0], softmax(x)[0], rtol=tolerance)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_large_numbers_neither_overflow_nor_divide_by_zero(dtype):
    x = np.array([[1e4, 1e4, -1e4], [-1e30, -1e30, -1e30], [88.0, 800.0, 8000.0]], dtype)
    with np.errstate(over="raise", divide="raise", invalid="raise"):
        y, _ = softmax(x)
    np.testing.assert_allclose(y, [[0.5, 0.5, 0], [1 / 3, 1 / 3, 1 / 3], [0, 0, 1]], rtol=1e-6)


def test_the_gradient_adds_up_to_zero_along_a_row():
    rng = np.random.default_rng(1)
    _, cache = softmax(rng.standard_normal((4, 7)))
    dx = softmax_backward(rng.standard_normal((4, 7)), cache)
    np.testing.assert_allclose(dx.sum(axis=-1), 0, atol=1e-15)
    assert np.abs(dx).max() > 0.01
