"""Checks of lesson 7."""

import functools
from importlib import import_module

import numpy as np
import pytest

from lessons.referee import assert_operation, assert_same, assert_trust

SUSPECTS = import_module("lessons.07_layer_norm.suspects")
LIBRARY = import_module("tinyvit.ops")


def inputs(shape=(2, 3, 5), seed=0, mean=3.0):
    """x far from mean 0 and variance 1, gains that are not 1, offsets that are not 0."""
    rng = np.random.default_rng(seed)
    D = shape[-1]
    return {"x": rng.normal(mean, 2, shape), "weight": rng.normal(1, 0.5, D), "bias": rng.normal(size=D)}


def right(x, weight, bias, eps=1e-6):
    """LayerNorm row by row, in float64."""
    y = np.empty(x.shape)
    for row in np.ndindex(*x.shape[:-1]):
        numbers = x[row].astype(np.float64)
        y[row] = (numbers - numbers.mean()) / np.sqrt(numbers.var() + eps) * weight + bias
    return y


@pytest.mark.hint(
    "mean and variance are taken over the last axis, with keepdims=True, so that they fit x again; the "
    "variance divides by D, not by D - 1"
)
def test_a_row_by_hand(impl):
    x = np.array([[2.0, 4.0, 6.0], [102.0, 104.0, 106.0]])
    y, _ = impl.layer_norm(x, np.ones(3), np.zeros(3), eps=0.0)
    assert_same(y, np.array([[-1.224744871391589, 0.0, 1.224744871391589]] * 2), "y")


@pytest.mark.hint("the gain multiplies n, the offset is added after it; eps stands under the root")
@pytest.mark.parametrize("shape", [(2, 3, 5), (4, 6), (5,), (3, 3, 3), (2, 3, 2, 4)], ids=str)
def test_gain_offset_and_eps(impl, shape):
    arrays = inputs(shape)
    large = functools.partial(right, eps=0.5)
    expected = large(**arrays)
    y = impl.layer_norm(*arrays.values(), eps=0.5)[0]
    assert_same(y, expected, "y with eps = 0.5", of=large, inputs=arrays)
    expected = right(**arrays)
    y = impl.layer_norm(*arrays.values())[0]
    assert_same(y, expected, "y without an eps, which is then 1e-6,", of=right, inputs=arrays)


@pytest.mark.hint("rows of small numbers show eps: under the root, and 1e-6 unless another one is given")
def test_rows_of_small_numbers(impl):
    x, weight, bias = inputs((4, 5), seed=6).values()
    x *= 1e-3
    expected = right(x, weight, bias)
    assert_same(impl.layer_norm(x, weight, bias)[0], expected, "y of rows around 0.003")
    assert_same(impl.layer_norm(np.full((2, 5), 0.1), weight, bias)[0], np.stack([bias] * 2), "equal numbers")


@pytest.mark.hint(
    "the mean of the squares minus the square of the mean loses its digits in float32: subtract the mean "
    "first, then square",
    dtype="an array made without dtype=x.dtype turns float32 into float64",
)
@pytest.mark.parametrize("mean", [1e3, 1e4])
def test_float32_rows_with_a_large_mean(impl, mean):
    arrays = [array.astype(np.float32) for array in inputs((3, 2, 8), 7, mean).values()]
    expected = right(*arrays).astype(np.float32)
    assert_same(impl.layer_norm(*arrays)[0], expected, f"y of rows around {mean:,.0f}", 3e-3)


@pytest.mark.hint(
    "which of the paths, or which of the sums, is missing or has another factor?",
    dx="three paths add up: straight through n, through the mean, through r; which is off? Take one row, and "
    "a g with a single 1",
    dweight="n, before the gain, and summed over every axis but the last",
    dbias="dy summed over every axis but the last",
    shape="dweight and dbias have the shape (D,), however many axes dy has",
    dtype="np.zeros, np.ones and np.full are float64 unless you say dtype=dy.dtype",
    cache="dx *= r is fine if dx is new; n *= ... would spoil what the forward kept",
)
@pytest.mark.parametrize("shape", [(2, 3, 5), (4, 6), (5,), (1, 4), (3, 3, 3), (2, 3, 2, 4)], ids=str)
def test_backward(impl, shape):
    assert_operation(impl.layer_norm, impl.layer_norm_backward, {f"x {shape}": inputs(shape, seed=1)})


@pytest.mark.hint("the r in the backward is that of the forward, with the same eps; keep it in the cache")
def test_backward_with_a_large_eps(impl):
    def forward(*arrays):
        return impl.layer_norm(*arrays, eps=2.0)

    assert_operation(forward, impl.layer_norm_backward, {"eps = 2": inputs((2, 3, 5), seed=2)})


@pytest.mark.hint("a gain may be 0: keep n in the cache, it cannot be recovered from y")
def test_backward_with_a_gain_of_zero(impl):
    arrays = inputs((4, 6), seed=3)
    arrays["weight"][[1, 4]] = 0.0, -1.0
    assert_operation(impl.layer_norm, impl.layer_norm_backward, {"a gain of 0 and one of -1": arrays})


@pytest.mark.hint("shifting a row of x does not change y, so dx must add up to 0 along each row")
def test_the_gradient_has_no_part_that_the_output_cannot_see(impl):
    x, weight, bias = inputs(seed=3).values()
    _, cache = impl.layer_norm(x, weight, bias)
    dx, *_ = impl.layer_norm_backward(np.random.default_rng(4).normal(size=x.shape), cache)
    assert_same(dx.sum(axis=-1), np.zeros(x.shape[:-1]), "the sum of dx along each row", 1e-12)


@pytest.mark.hint(
    "whatever belongs to one batch goes into its cache: the next forward may come before its backward"
)
def test_two_forwards_before_the_backward(impl):
    first, second = inputs((2, 3, 5), seed=8), inputs((2, 3, 5), seed=9)
    dy = np.random.default_rng(10).normal(size=(2, 3, 5))
    expected = right(*first.values())
    gradients = LIBRARY.layer_norm_backward(dy, LIBRARY.layer_norm(*first.values())[1])
    y, cache = impl.layer_norm(*first.values())
    impl.layer_norm(*second.values())
    assert_same(y, expected, "y of the first of two calls")
    for got, array, each in zip(impl.layer_norm_backward(dy, cache), gradients, first, strict=True):
        assert_same(got, array, f"d{each} of the first of two calls")


@pytest.mark.hint(
    "check_gradients(forward, backward, (x, weight, bias), rng) returns one error for each input, all below "
    "1e-6 where the backward is right",
    right="with numbers around 1 and float64, a right backward has errors around 1e-10",
    **{
        "it is right for the default eps only": "forward takes an eps: lambda x, w, b: forward(x, w, b, 0.5)",
        "its gradient of the offset is right for two axes only": "look at the error of each input, too",
    },
)
def test_trust_layer_norm(impl):
    trusted = {"the library's": (LIBRARY.layer_norm, LIBRARY.layer_norm_backward), "another": SUSPECTS.RIGHT}
    assert_trust(impl.trust_layer_norm, trusted, SUSPECTS.WRONG)


@pytest.mark.puzzle
@pytest.mark.hint(
    "two paths lead from x to y: directly, and through r; is anything subtracted here?",
    dx="r depends on the first numbers only, but every number of the row is multiplied by it",
    dweight="x * r, before the gain, summed over every axis but the last",
)
def test_rms_norm_backward(impl):
    for shape, first in (((4, 6), 2), ((2, 3, 5), 5), ((2, 3, 5), 1), ((2, 3, 2, 4), 3), ((3, 3), 2)):
        arrays = inputs(shape, seed=5, mean=1.0)
        del arrays["bias"]
        for eps in ({}, {"eps": 0.3}):
            assert_operation(
                lambda x, weight, k=first, eps=eps: (rms_norm(x, weight, k, **eps), (x, weight, k, eps)),
                lambda dy, cache: impl.rms_norm_backward(dy, *cache[:3], **cache[3]),
                {f"x {shape}, the first {first}, eps {eps.get('eps', 1e-6)}": arrays},
            )


def rms_norm(x, weight, first, eps=1e-6):
    """The forward of the puzzle."""
    head = x[..., :first]
    return x / np.sqrt((head * head).mean(axis=-1, keepdims=True) + x.dtype.type(eps)) * weight


def off_by_a_hundredth(number):
    """The library's backward with one of its three gradients 1 % too large."""

    def backward(dy, cache):
        gradients = LIBRARY.layer_norm_backward(dy, cache)
        return tuple(1.01 * each if n == number else each for n, each in enumerate(gradients))

    return LIBRARY.layer_norm, backward


@pytest.mark.hint(
    "a right backward has errors around 1e-10, and what is off by a hundredth is wrong: ask for 1e-6"
)
def test_trust_layer_norm_ends_at_a_hundredth(impl):
    wrong = {
        f"{name} is 1 % too large": off_by_a_hundredth(n) for n, name in enumerate(("dx", "dweight", "dbias"))
    }
    assert_trust(impl.trust_layer_norm, (LIBRARY.layer_norm, LIBRARY.layer_norm_backward), wrong)
