"""Checks of lesson 4."""

import functools
import math
from importlib import import_module

import numpy as np
import pytest

from lessons.referee import assert_exposed, assert_operation, assert_same

SUSPECTS = import_module("lessons.04_gelu_mlp.suspects").SUSPECTS
FORMS = ("exact", "tanh")
NUMBERS = np.array([[-3.0, -1.0, -0.3], [0.0, 1.0, 2.5]])


def exact(x):
    return x * (1 + math.erf(x / math.sqrt(2))) / 2


def tanh_form(x):
    return x * (1 + math.tanh(math.sqrt(2 / math.pi) * (x + 0.044715 * x**3))) / 2


RIGHT = {"exact": np.vectorize(exact), "tanh": np.vectorize(tanh_form)}


def inputs(before=(2, 3), width=4, mlp_width=5, seed=0):
    """Tokens and the parameters of an MLP that is wider than they are."""
    rng = np.random.default_rng(seed)
    return {
        "x": rng.normal(size=(*before, width)),
        "weight1": rng.normal(size=(width, mlp_width)),
        "bias1": rng.normal(size=mlp_width),
        "weight2": rng.normal(size=(mlp_width, width)),
        "bias2": rng.normal(size=width),
    }


@pytest.mark.hint("x times Phi(x), with Phi(x) = (1 + erf(x / sqrt 2)) / 2: the root of 2 divides x, not erf")
def test_the_exact_form(impl):
    assert_same(impl.gelu(NUMBERS.copy(), "exact")[0], RIGHT["exact"](NUMBERS), "y")


@pytest.mark.hint(
    "u = sqrt(2/pi) (x + 0.044715 x^3), then x (1 + tanh u) / 2; without a form, it is this one"
)
def test_the_tanh_form_is_the_default(impl):
    expected = RIGHT["tanh"](NUMBERS)
    assert_same(impl.gelu(NUMBERS.copy(), "tanh")[0], expected, "y with the form 'tanh'")
    assert_same(impl.gelu(NUMBERS.copy())[0], expected, "y without a form")


@pytest.mark.hint(
    "product rule: x is a factor and inside the gate; the slope at 1 is 1.0833 (exact), 1.0830 (tanh)",
    dtype="np.sqrt(2 / np.pi) is a float64 that makes float32 arrays float64; math.sqrt(2 / math.pi) is not",
    cache="gate *= ... or x *= ... in the backward spoils what the forward kept: make new arrays",
    inplace="y = x * gate makes a new array; x *= gate changes the caller's",
)
@pytest.mark.parametrize("form", FORMS)
def test_gelu_and_its_backward(impl, form):
    rng = np.random.default_rng(1)
    shapes = (7,), (4, 25), (2, 3, 5), (2, 3, 2, 2)
    cases = {f"x {shape}": {"x": rng.normal(0, 1.5, shape)} for shape in shapes}
    cases["zeros and numbers far out"] = {"x": np.array([[0.0, 0.0, 1.0], [-7.0, 7.0, -4.0]])}
    assert_operation(lambda x: impl.gelu(x, form), impl.gelu_backward, cases)


@pytest.mark.hint(
    "inf / inf is nan, 1 / (1 + inf) is 0: a huge exp may stand in the denominator only",
    finite="inf / inf and 0 * inf are nan: which of your factors is huge, and what is it multiplied with?",
)
@pytest.mark.parametrize("dtype", [np.float64, np.float32], ids=["float64", "float32"])
@pytest.mark.parametrize("form", FORMS)
def test_far_from_zero_it_is_zero_or_x(impl, form, dtype):
    x = np.array([-50.0, -12.0, 12.0, 50.0], dtype)
    y, cache = impl.gelu(x, form)
    assert_same(y, np.array([0.0, 0.0, 12.0, 50.0], dtype), "y of -50, -12, 12 and 50")
    slope = impl.gelu_backward(np.ones(4, dtype), cache)
    assert_same(slope, np.array([0.0, 0.0, 1.0, 1.0], dtype), "the slope at -50, -12, 12 and 50")


@pytest.mark.hint("the form belongs in the cache: the next forward may have another one")
def test_two_forwards_before_the_backwards(impl):
    dy = np.ones_like(NUMBERS)
    results = {form: impl.gelu(NUMBERS.copy(), form) for form in FORMS}
    assert_same(results["exact"][0], RIGHT["exact"](NUMBERS), "y of the first of two calls")
    for form, slope in (("exact", 1.0833154705876862), ("tanh", 1.0829640838457826)):
        got = impl.gelu_backward(dy, results[form][1])
        assert_same(got[1, 1], np.float64(slope), f"the slope of the form '{form}' at 1")


@pytest.mark.hint("three steps: linear, gelu with the form that was asked for, linear")
@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("before", [(3,), (2, 3), (2, 1, 3)], ids=str)
def test_the_mlp_forward(impl, form, before):
    arrays = inputs(before, seed=4)
    right = functools.partial(mlp_of_the_form, form)
    expected = right(*arrays.values())
    y, _ = impl.mlp(*arrays.values(), form)
    assert_same(y, expected, "y", of=right, inputs=arrays)
    if form == "tanh":
        assert_same(impl.mlp(*arrays.values())[0], expected, "y without a form")


def mlp_of_the_form(form, x, weight1, bias1, weight2, bias2):
    """The definition."""
    return RIGHT[form](x @ weight1 + bias1) @ weight2 + bias2


@pytest.mark.hint(
    "compare with the worked example, line by line: dg, then dh = dg times the slope at h, then dx",
    dweight2="the second layer's input was g, after GELU: 0.841 and -0.159",
    dbias1="this is dh: dg times the slope of GELU at h, 1.083 and -0.083",
)
def test_the_mlp_of_the_worked_example(impl):
    arrays = np.ones((1, 1)), np.array([[1.0, -1.0]]), np.zeros(2), np.ones((2, 1)), np.zeros(1)
    _, cache = impl.mlp(*arrays, "exact")
    gradients = impl.mlp_backward(np.ones((1, 1)), cache)
    assert len(gradients) == 5, f"expected five gradients, got {len(gradients)}"
    dx, dweight1, dbias1, dweight2, dbias2 = gradients
    gate, density = (1 + math.erf(math.sqrt(0.5))) / 2, math.exp(-0.5) / math.sqrt(2 * math.pi)
    slopes = np.array([gate + density, 1 - gate - density])
    assert_same(dbias2, np.ones(1), "dbias2")
    assert_same(dweight2, np.array([[gate], [gate - 1]]), "dweight2")
    assert_same(dbias1, slopes, "dbias1")
    assert_same(dweight1, slopes[None], "dweight1")
    assert_same(dx, np.array([[slopes[0] - slopes[1]]]), "dx")


@pytest.mark.hint(
    "linear_backward with the second layer's cache, gelu_backward, linear_backward with the first one's",
    dweight2="the input of the second layer is g, not h",
    dweight1="what comes back from GELU goes into the first layer: dh, not dg",
    shape="linear_backward returns the gradients of input, weight and bias, with all rows added up",
    count="dx, dweight1, dbias1, dweight2, dbias2: five gradients",
)
@pytest.mark.parametrize("form", FORMS)
def test_mlp_backward(impl, form):
    sizes = ((3,), 4, 5), ((2, 3), 5, 4), ((2, 3, 2), 4, 6), ((2, 3), 4, 4)
    cases = {f"x {(*size[0], size[1])}, M = {size[2]}": inputs(*size, seed=2) for size in sizes}
    assert_operation(lambda *arrays: impl.mlp(*arrays, form), impl.mlp_backward, cases)


@pytest.mark.hint(
    "what does each do that could fail: a mirror, a division, a clip? At which numbers?",
    inputs="one float64 array in a tuple; random numbers never hit the spot",
)
def test_guilty_gelu(impl):
    assert_exposed(impl.guilty_gelu(), SUSPECTS)


@pytest.mark.puzzle
@pytest.mark.hint(
    "go back line by line: the last product, then a * gate * b, which has three factors, then the gate",
    dx="x went into a and into b: what comes back from both is added",
    dweight_a="a is used twice, as a factor and inside the gate, as in GELU",
    dweight_b="b is multiplied by a * gate",
    dweight_out="the input of the last product is a * gate * b",
)
def test_swiglu_backward(impl):
    rng = np.random.default_rng(5)
    cases = {}
    for before, width, hidden in (((3,), 4, 5), ((2, 3), 5, 4), ((2, 3, 2), 4, 6), ((2,), 3, 3)):
        shapes = {"x": (*before, width), "weight_a": (width, hidden), "weight_b": (width, hidden)}
        shapes["weight_out"] = (hidden, width)
        cases[f"x {shapes['x']}, M = {hidden}"] = {
            name: rng.normal(size=shape) for name, shape in shapes.items()
        }
    assert_operation(swiglu, lambda dy, cache: impl.swiglu_backward(dy, *cache), cases)


def swiglu(x, weight_a, weight_b, weight_out):
    """The forward of the puzzle, and what its backward is given."""
    a, b = x @ weight_a, x @ weight_b
    return (a / (1 + np.exp(-a)) * b) @ weight_out, (x, weight_a, weight_b, weight_out)
