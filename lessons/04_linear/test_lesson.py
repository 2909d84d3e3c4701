"""Checks of lesson 4."""

import numpy as np
import pytest

from lessons.referee import assert_gradients, assert_same, assert_untouched

X = np.array([[1.0, 2.0], [3.0, 4.0]])
WEIGHT = np.array([[1.0, 0.0, -1.0], [2.0, 1.0, 0.0]])
BIAS = np.array([10.0, 20.0, 30.0])
DY = np.array([[1.0, 0.0, 2.0], [0.0, -1.0, 1.0]])


def inputs(seed=0, before=(2, 3), ins=4, outs=5):
    """x with the given leading axes, and as many inputs and outputs as asked for."""
    rng = np.random.default_rng(seed)
    return {
        "x": rng.normal(size=(*before, ins)),
        "weight": rng.normal(size=(ins, outs)),
        "bias": rng.normal(size=outs),
    }


@pytest.mark.hint("rows of x times columns of weight, then the bias added to every row")
def test_the_forward_of_the_worked_example(impl):
    y, _ = impl.linear(X, WEIGHT, BIAS)
    assert_same(y, np.array([[15.0, 22.0, 29.0], [21.0, 24.0, 27.0]]), "y")


@pytest.mark.hint(
    "the worked example has every term; a transpose swaps axes, a reshape only cuts the rows elsewhere"
)
def test_the_backward_of_the_worked_example(impl):
    _, cache = impl.linear(X, WEIGHT, BIAS)
    dx, dweight, dbias = impl.linear_backward(DY, cache)
    assert_same(dx, np.array([[-1.0, 2.0], [-1.0, -1.0]]), "dx")
    assert_same(dweight, np.array([[1.0, -3.0, 5.0], [2.0, -4.0, 8.0]]), "dweight")
    assert_same(dbias, np.array([1.0, -1.0, 3.0]), "dbias")


@pytest.mark.hint(
    "every token is a row of its own: x.reshape(-1, x.shape[-1]), and at the end the leading axes again"
)
@pytest.mark.parametrize("before", [(3,), (2, 3), (2, 1, 3)])
def test_any_number_of_leading_axes(impl, before):
    x, weight, bias = inputs(1, before).values()
    y, _ = impl.linear(x, weight, bias)
    expected = np.empty((*before, 5))
    for place in np.ndindex(*before):
        for o in range(5):
            expected[place][o] = (x[place] * weight[:, o]).sum() + bias[o]
    assert_same(y, expected, "y")


@pytest.mark.hint(
    "dx is shaped as x. dweight and dbias were used by every row: add up all rows, a sum and not a mean"
)
@pytest.mark.parametrize("before", [(6,), (2, 3)])
def test_gradients(impl, before):
    assert_gradients(impl.linear, impl.linear_backward, inputs(2, before))


@pytest.mark.hint(
    "with as many inputs as outputs, W and its transpose have the same shape: only values tell them apart"
)
def test_gradients_of_a_square_weight(impl):
    assert_gradients(impl.linear, impl.linear_backward, inputs(3, (2, 3), 4, 4))


@pytest.mark.hint(
    "write the shape of dy with the other one under it, aligned at the right: which axes are 1 or missing?"
)
@pytest.mark.parametrize(
    "shape", [(4,), (3, 1), (2, 1, 4), (1, 3, 4), (2, 1, 1), (1,), (2, 3, 4), ()], ids=str
)
def test_unbroadcast(impl, shape):
    dy = np.random.default_rng(4).normal(size=(2, 3, 4))
    numbers = np.arange(int(np.prod(shape))).reshape(shape)
    shown = np.broadcast_to(numbers, dy.shape)  # which number stands at which place
    expected = np.array([dy[shown == number].sum() for number in numbers.flat]).reshape(shape)
    assert_same(impl.unbroadcast(dy, shape), expected, f"the gradient of an array of shape {shape}")


@pytest.mark.hint(
    "np.ones(R) is float64 unless told otherwise; y = x @ w makes a new array, x *= 2 changes the caller's"
)
def test_float32_stays_float32_and_inputs_stay_whole(impl):
    arrays = [array.astype(np.float32) for array in inputs(5).values()]
    before = [array.copy() for array in arrays]
    y, cache = impl.linear(*arrays)
    dy = np.ones_like(y)
    results = {"y": y}
    results |= zip(("dx", "dweight", "dbias"), impl.linear_backward(dy, cache), strict=True)
    results["the result of unbroadcast"] = impl.unbroadcast(dy, (5,))
    for name, array in results.items():
        assert array.dtype == np.float32, f"{name} has dtype {array.dtype}, expected float32"
    assert_untouched([*before, np.ones((2, 3, 5))], [*arrays, dy])
