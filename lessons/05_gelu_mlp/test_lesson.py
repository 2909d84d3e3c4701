"""Checks of lesson 5."""

import math

import numpy as np
import pytest

from lessons.referee import assert_gradients, assert_same, assert_untouched

FORMS = ("exact", "tanh")
NUMBERS = np.array([[-3.0, -1.0, -0.3], [0.0, 1.0, 2.5]])


def inputs(seed=0, before=(2, 3), width=4, mlp_width=5):
    """Tokens and the parameters of an MLP that is wider than they are."""
    rng = np.random.default_rng(seed)
    return {
        "x": rng.normal(size=(*before, width)),
        "weight1": rng.normal(size=(width, mlp_width)),
        "bias1": rng.normal(size=mlp_width),
        "weight2": rng.normal(size=(mlp_width, width)),
        "bias2": rng.normal(size=width),
    }


def exact(x):
    return x * (1 + math.erf(x / math.sqrt(2))) / 2


def tanh_form(x):
    return x * (1 + math.tanh(math.sqrt(2 / math.pi) * (x + 0.044715 * x**3))) / 2


@pytest.mark.hint("x times Phi(x), with Phi(x) = (1 + erf(x / sqrt 2)) / 2: the root of 2 divides x, not erf")
def test_the_exact_form(impl):
    y, _ = impl.gelu(NUMBERS, "exact")
    assert_same(y, np.vectorize(exact)(NUMBERS), "y")


@pytest.mark.hint(
    "u = sqrt(2/pi) (x + 0.044715 x^3), then x (1 + tanh u) / 2; without a form, it is this one"
)
def test_the_tanh_form_is_the_default(impl):
    assert_same(impl.gelu(NUMBERS, "tanh")[0], np.vectorize(tanh_form)(NUMBERS), "y with the form 'tanh'")
    assert_same(impl.gelu(NUMBERS)[0], np.vectorize(tanh_form)(NUMBERS), "y without a form")


@pytest.mark.hint(
    "product rule: x is in front of the gate and inside it; the slope at 1 is 1.0833 (exact), 1.0830 (tanh)"
)
@pytest.mark.parametrize("form", FORMS)
def test_gelu_backward(impl, form):
    x = np.random.default_rng(1).normal(0, 1.5, (4, 25))
    assert_gradients(lambda x: impl.gelu(x, form), impl.gelu_backward, {"x": x})


@pytest.mark.hint(
    "inf / inf is nan, 1 / (1 + inf) is 0: write the gate so that a huge exp stands only below the line"
)
@pytest.mark.parametrize("form", FORMS)
def test_far_from_zero_it_is_zero_or_x(impl, form):
    x = np.array([-50.0, 50.0])
    y, cache = impl.gelu(x, form)
    assert_same(y, np.array([0.0, 50.0]), "y of -50 and 50")
    assert_same(impl.gelu_backward(np.ones(2), cache), np.array([0.0, 1.0]), "the slope at -50 and 50")


@pytest.mark.hint(
    "compare with the worked example, line by line: dg, then dh = dg times the slope at h, then dx"
)
def test_the_mlp_of_the_worked_example(impl):
    arrays = np.ones((1, 1)), np.array([[1.0, -1.0]]), np.zeros(2), np.ones((2, 1)), np.zeros(1)
    _, cache = impl.mlp(*arrays, "exact")
    dx, dweight1, dbias1, dweight2, dbias2 = impl.mlp_backward(np.ones((1, 1)), cache)
    gate, density = (1 + math.erf(math.sqrt(0.5))) / 2, math.exp(-0.5) / math.sqrt(2 * math.pi)
    slopes = np.array([gate + density, 1 - gate - density])
    assert_same(dbias2, np.ones(1), "dbias2")
    assert_same(dweight2, np.array([[gate], [gate - 1]]), "dweight2")
    assert_same(dbias1, slopes, "dbias1")
    assert_same(dweight1, slopes[None], "dweight1")
    assert_same(dx, np.array([[slopes[0] - slopes[1]]]), "dx")


@pytest.mark.hint(
    "linear_backward(dy, cache2) gives dg and two of the gradients; gelu_backward; linear_backward again"
)
@pytest.mark.parametrize("form", FORMS)
def test_mlp_backward(impl, form):
    assert_gradients(lambda *arrays: impl.mlp(*arrays, form), impl.mlp_backward, inputs(2))


@pytest.mark.hint(
    "np.sqrt(2 / np.pi) is a float64 that makes float32 arrays float64; math.sqrt(2 / math.pi) is not"
)
@pytest.mark.parametrize("form", FORMS)
def test_float32_stays_float32_and_inputs_stay_whole(impl, form):
    arrays = [array.astype(np.float32) for array in inputs(3).values()]
    before = [array.copy() for array in arrays]
    y, cache = impl.gelu(arrays[0], form)
    dx = impl.gelu_backward(y, cache)
    assert y.dtype == np.float32, f"y of gelu has dtype {y.dtype}, expected float32"
    assert dx.dtype == np.float32, f"dx of gelu has dtype {dx.dtype}, expected float32"
    y, cache = impl.mlp(*arrays, form)
    dx, *_ = impl.mlp_backward(y, cache)
    assert dx.dtype == np.float32, f"dx of the MLP has dtype {dx.dtype}, expected float32"
    assert_untouched(before, arrays)
