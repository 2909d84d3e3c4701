import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.helpers import seeds
from tinyvit.ops import GELU_FORMS, gate, gelu, linear, mlp

small = st.integers(1, 5)
leading = st.lists(small, max_size=3).map(tuple)  # one vector, a row of them, a batch of rows


@settings(max_examples=40)
@given(shape=leading, I=small, O=small, seed=seeds())
def test_linear_equals_the_sum_of_equation_1(shape, I, O, seed):
    rng = np.random.default_rng(seed)
    x, weight, bias = rng.standard_normal((*shape, I)), rng.standard_normal((I, O)), rng.standard_normal(O)
    y, _ = linear(x, weight, bias)
    assert y.shape == (*shape, O)
    for place in np.ndindex(*shape, O):
        *row, o = place
        expected = sum(x[(*row, i)] * weight[i, o] for i in range(I)) + bias[o]
        assert math.isclose(y[place], expected, rel_tol=1e-12, abs_tol=1e-12)


def gelu_by_hand(x, form):
    if form == "exact":
        return x * (1 + math.erf(x / math.sqrt(2))) / 2
    return x * (1 + math.tanh(math.sqrt(2 / math.pi) * (x + 0.044715 * x**3))) / 2


@pytest.mark.parametrize("form", ["tanh", "exact"])
def test_mlp_widens_bends_and_narrows_each_token_for_itself(form):
    rng = np.random.default_rng(1)
    shapes = (2, 3, 4), (4, 7), (7,), (7, 4), (4,)
    x, weight1, bias1, weight2, bias2 = (rng.standard_normal(shape) for shape in shapes)
    y, _ = mlp(x, weight1, bias1, weight2, bias2, form)
    for b, n in np.ndindex(2, 3):
        g = [gelu_by_hand(u, form) for u in x[b, n] @ weight1 + bias1]
        np.testing.assert_allclose(y[b, n], g @ weight2 + bias2, rtol=1e-12)


@pytest.mark.parametrize("form", GELU_FORMS)
def test_a_gate_of_every_form_multiplies_the_other_half(form):
    both = np.random.default_rng(0).normal(size=(4, 6))
    np.testing.assert_allclose(gate(both, form)[0], gelu(both[:, :3], form)[0] * both[:, 3:])


def test_the_usual_gelu_is_that_of_the_official_code():
    rng = np.random.default_rng(0)
    x, w1, b1, w2, b2 = (rng.normal(size=shape) for shape in ((3, 4), (4, 8), (8,), (8, 4), (4,)))
    np.testing.assert_array_equal(mlp(x, w1, b1, w2, b2)[0], mlp(x, w1, b1, w2, b2, "tanh")[0])
    assert (mlp(x, w1, b1, w2, b2)[0] != mlp(x, w1, b1, w2, b2, "exact")[0]).any()
