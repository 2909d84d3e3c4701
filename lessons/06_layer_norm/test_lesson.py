"""Checks of lesson 6."""

import numpy as np
import pytest

from lessons.referee import assert_gradients, assert_same, assert_untouched


def inputs(seed=0, shape=(2, 3, 5)):
    """x far from mean 0 and variance 1, gains that are not 1, offsets that are not 0."""
    rng = np.random.default_rng(seed)
    D = shape[-1]
    return {"x": rng.normal(3, 2, shape), "weight": rng.normal(1, 0.5, D), "bias": rng.normal(size=D)}


@pytest.mark.hint(
    "mean and variance are taken over the last axis, with keepdims=True, so that they fit x again; the "
    "variance divides by D, not by D - 1"
)
def test_a_row_by_hand(impl):
    x = np.array([[2.0, 4.0, 6.0], [102.0, 104.0, 106.0]])
    y, _ = impl.layer_norm(x, np.ones(3), np.zeros(3), eps=0.0)
    assert_same(y, np.array([[-1.224744871391589, 0.0, 1.224744871391589]] * 2), "y")


@pytest.mark.hint("the gain multiplies n, the offset is added after it; eps stands under the root")
def test_gain_offset_and_eps(impl):
    x, weight, bias = inputs().values()
    y, _ = impl.layer_norm(x, weight, bias, eps=0.5)
    expected = np.empty_like(x)
    for place in np.ndindex(2, 3):
        row = x[place]
        expected[place] = (row - row.mean()) / np.sqrt(row.var() + 0.5) * weight + bias
    assert_same(y, expected, "y")


@pytest.mark.hint(
    "g = dy * weight, then each path separately: g r; its row mean, subtracted; and -r n times the row mean "
    "of g n. dweight and dbias are summed over every axis but the last"
)
def test_backward_through_the_graph(impl):
    assert_gradients(impl.layer_norm, impl.layer_norm_backward_graph, inputs(1))


@pytest.mark.hint(
    "two things are taken out of g = dy * weight: its row mean, and n times the row mean of g n; then "
    "everything times r"
)
def test_backward_in_closed_form(impl):
    assert_gradients(impl.layer_norm, impl.layer_norm_backward, inputs(2, (4, 6)))


@pytest.mark.hint("a row whose x is shifted gives the same y, so dx must add up to 0 along each row")
def test_the_gradient_has_no_part_that_the_output_cannot_see(impl):
    x, weight, bias = inputs(3).values()
    _, cache = impl.layer_norm(x, weight, bias)
    dx, *_ = impl.layer_norm_backward(np.random.default_rng(4).normal(size=x.shape), cache)
    assert_same(dx.sum(axis=-1), np.zeros(x.shape[:-1]), "the sum of dx along each row", 1e-12)


@pytest.mark.hint("np.sqrt(x, dtype=float) or an array made without dtype=x.dtype turns float32 into float64")
def test_float32_stays_float32_and_inputs_stay_whole(impl):
    arrays = [array.astype(np.float32) for array in inputs(5).values()]
    before = [array.copy() for array in arrays]
    y, cache = impl.layer_norm(*arrays)
    dx, *_ = impl.layer_norm_backward(y, cache)
    assert y.dtype == np.float32, f"y has dtype {y.dtype}, expected float32"
    assert dx.dtype == np.float32, f"dx has dtype {dx.dtype}, expected float32"
    assert_untouched(before, arrays)
