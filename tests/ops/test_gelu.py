import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tinyvit.ops import GELU_FORMS, gelu, gelu_backward


@given(numbers=st.lists(st.floats(-40, 40), min_size=1, max_size=30))
def test_the_exact_form_is_x_times_the_normal_distribution_function(numbers):
    y, _ = gelu(np.array(numbers), "exact")
    expected = [x * (1 + math.erf(x / math.sqrt(2))) / 2 for x in numbers]
    np.testing.assert_allclose(y, expected, rtol=1e-14, atol=2e-15 * 40)


@given(numbers=st.lists(st.floats(-40, 40), min_size=1, max_size=30))
def test_the_tanh_form_is_the_formula_of_the_official_code(numbers):
    y, _ = gelu(np.array(numbers), "tanh")
    expected = [0.5 * x * (1 + math.tanh(math.sqrt(2 / math.pi) * (x + 0.044715 * x**3))) for x in numbers]
    np.testing.assert_allclose(y, expected, rtol=1e-12, atol=1e-14)


@given(numbers=st.lists(st.floats(-40, 40), min_size=1, max_size=30))
def test_the_relatives_are_x_times_another_gate(numbers):
    x = np.array(numbers)
    for form, gate in (
        ("quick", 1 / (1 + np.exp(-1.702 * x))),
        ("silu", 1 / (1 + np.exp(-x))),
        ("relu", x > 0),
    ):
        np.testing.assert_allclose(gelu(x, form)[0], x * gate, rtol=1e-12, atol=1e-14)


def test_the_tanh_form_is_the_default():
    x = np.linspace(-3, 3, 50)
    np.testing.assert_array_equal(gelu(x)[0], gelu(x, "tanh")[0])


def test_the_two_forms_differ_but_never_by_more_than_5e_4():
    x = np.linspace(-8, 8, 4001)
    difference = np.abs(gelu(x, "tanh")[0] - gelu(x, "exact")[0]).max()
    assert 4e-4 < difference < 5e-4


@pytest.mark.parametrize("form", GELU_FORMS)
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_large_numbers_pass_or_vanish_and_so_do_their_gradients(form, dtype):
    x = np.array([-1e4, -100, 100, 1e4], dtype)
    with np.errstate(all="raise", under="ignore"):
        y, cache = gelu(x, form)
        dx = gelu_backward(np.full(4, 3, dtype), cache)
    np.testing.assert_allclose(y, [0, 0, 100, 1e4], rtol=0, atol=1e-40)
    np.testing.assert_allclose(dx, [0, 0, 3, 3], rtol=0, atol=1e-40)


def test_where_the_cube_overflows_the_gradient_is_a_number():
    x = np.array([-1e15, 1e15], "float32")
    with np.errstate(over="ignore"):
        y, cache = gelu(x)
        dx = gelu_backward(np.ones(2, "float32"), cache)
    np.testing.assert_array_equal(y, [0, x[1]])
    np.testing.assert_array_equal(dx, [0, 1])


@pytest.mark.parametrize("form", GELU_FORMS)
def test_float32_agrees_with_float64(form):
    x = np.linspace(-12, 12, 2001)
    y, cache = gelu(x, form)
    y32, cache32 = gelu(x.astype("float32"), form)
    np.testing.assert_allclose(y32, y, atol=3e-6)
    dx, dx32 = gelu_backward(np.ones_like(x), cache), gelu_backward(np.ones_like(y32), cache32)
    np.testing.assert_allclose(dx32, dx, atol=3e-6)
