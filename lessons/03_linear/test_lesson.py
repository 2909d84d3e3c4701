"""Checks of lesson 3."""

import numpy as np
import pytest

from lessons.referee import assert_operation, assert_same, assert_untouched

X = np.array([[1.0, 2.0], [3.0, 4.0]])
WEIGHT = np.array([[1.0, 0.0, -1.0], [2.0, 1.0, 0.0]])
BIAS = np.array([10.0, 20.0, 30.0])
DY = np.array([[1.0, 0.0, 2.0], [0.0, -1.0, 1.0]])


def inputs(before, ins=4, outs=5, seed=0):
    """x with the given leading axes, and as many inputs and outputs as asked for."""
    rng = np.random.default_rng(seed)
    return {
        "x": rng.normal(size=(*before, ins)),
        "weight": rng.normal(size=(ins, outs)),
        "bias": rng.normal(size=outs),
    }


@pytest.mark.hint("rows of x times columns of weight, then the bias added to every row")
def test_the_forward_of_the_worked_example(impl):
    y, _ = impl.linear(X.copy(), WEIGHT.copy(), BIAS.copy())
    assert_same(y, np.array([[15.0, 22.0, 29.0], [21.0, 24.0, 27.0]]), "y")


@pytest.mark.hint(
    "every token is a row of its own: merge all axes but the last into one, and restore them at the end",
    dtype="a float32 array times a float32 array stays float32: where does a float64 come in?",
)
@pytest.mark.parametrize("before", [(3,), (1,), (2, 3), (2, 1, 3), (2, 3, 2)], ids=str)
def test_any_number_of_leading_axes(impl, before):
    x, weight, bias = inputs(before, seed=1).values()
    single = [array.astype(np.float32) for array in (x, weight, bias)]
    expected = np.empty((*before, 5))
    for row in np.ndindex(*before):
        for o in range(5):
            expected[row][o] = (x[row] * weight[:, o]).sum() + bias[o]
    assert_same(impl.linear(x, weight, bias)[0], expected, "y")
    assert_same(impl.linear(*single)[0], expected.astype(np.float32), "y in float32", 1e-5)


@pytest.mark.hint(
    "compare with the worked example, number by number",
    dx="each number of x occurs in one row of y: dy times the transpose of W; a reshape is not a transpose",
    dweight="W_02 meets the first column of x and the last of dy: 1 * 2 + 3 * 1",
    dbias="each number of b is added to a whole column of y, with the factor 1",
)
def test_the_backward_of_the_worked_example(impl):
    _, cache = impl.linear(X.copy(), WEIGHT.copy(), BIAS.copy())
    dx, dweight, dbias = impl.linear_backward(DY.copy(), cache)
    assert_same(dx, np.array([[-1.0, 2.0], [-1.0, -1.0]]), "dx")
    assert_same(dweight, np.array([[1.0, -3.0, 5.0], [2.0, -4.0, 8.0]]), "dweight")
    assert_same(dbias, np.array([1.0, -1.0, 3.0]), "dbias")


@pytest.mark.hint(
    "which use of the number is missing, or counted too often?",
    dx="dx has the shape of x; each entry of x occurs in one row of y",
    dweight="every row has used the weight: add up all rows of all images, a sum and not a mean",
    dbias="every row has used the bias: sum over every axis but the last, a sum and not a mean",
    shape="dx has the shape of x, dweight (I, O), dbias (O,), however many axes dy has",
    dtype="np.ones(R) and np.zeros(R) are float64 unless you say dtype=dy.dtype",
    cache="keep what the forward was given, and write into new arrays only",
)
@pytest.mark.parametrize("before", [(6,), (1,), (2, 3), (2, 3, 2)], ids=str)
def test_gradients(impl, before):
    assert_operation(impl.linear, impl.linear_backward, {f"leading axes {before}": inputs(before, seed=2)})


@pytest.mark.hint(
    "with as many inputs as outputs, W and its transpose have the same shape: only their values differ"
)
@pytest.mark.parametrize(("before", "size"), [((2, 3), 4), ((3,), 3), ((2, 2), 2), ((2, 3), 1)], ids=str)
def test_gradients_where_sizes_coincide(impl, before, size):
    assert_operation(
        impl.linear, impl.linear_backward, {f"I = O = {size}": inputs(before, size, size, seed=3)}
    )


@pytest.mark.hint(
    "a second call may come before the first one's backward: keep everything in the cache, and nothing "
    "elsewhere, and return a new array each time"
)
def test_two_forwards_before_the_backwards(impl):
    first, second = inputs((2, 3), seed=4), inputs((2, 3), seed=5)
    y, cache = impl.linear(*first.values())
    before = y.copy()
    impl.linear(*second.values())
    assert_untouched([before], [y], ["y of the first call"])
    dy = np.random.default_rng(6).normal(size=(2, 3, 5))
    assert_same(impl.linear_backward(dy, cache)[0], dy @ first["weight"].T, "dx of the first of two calls")


@pytest.mark.puzzle
@pytest.mark.hint(
    "write the shape of dy with the other one under it, aligned at the right: which axes are 1 or missing?",
    shape="an axis of length 1 stays, with length 1; a missing axis disappears",
    dtype="a sum of float32 numbers is float32",
)
@pytest.mark.parametrize(
    "shape",
    [(4,), (3, 1), (3, 4), (2, 1, 4), (1, 3, 4), (2, 1, 1), (1,), (1, 1), (2, 3, 4), ()],
    ids=str,
)
def test_unbroadcast(impl, shape):
    check_unbroadcast(impl, (2, 3, 4), shape)


@pytest.mark.puzzle
@pytest.mark.hint(
    "an axis that has length 1 on both sides was copied once: it stays where it is",
    shape="two axes of the same length are told apart by their position from the right",
)
@pytest.mark.parametrize(
    ("large", "shape"),
    [
        ((3, 3), (3,)),
        ((3, 3), (3, 1)),
        ((2, 1, 4), (1, 4)),
        ((5,), ()),
        ((5,), (1,)),
        ((2, 3, 2, 4), (3, 1, 4)),
        ((2, 3, 2, 4), (2, 4)),
        ((1, 4), (4,)),
    ],
    ids=str,
)
def test_unbroadcast_where_lengths_coincide(impl, large, shape):
    check_unbroadcast(impl, large, shape)


def check_unbroadcast(impl, large, shape):
    """Compare with a sum over the copies of each number, one number at a time."""
    dy = np.random.default_rng(4).normal(size=large)
    numbers = np.arange(int(np.prod(shape))).reshape(shape)
    shown = np.broadcast_to(numbers, large)  # which number shows at which position
    expected = np.array([dy[shown == number].sum() for number in numbers.flat]).reshape(shape)
    before = dy.copy()
    name = f"the gradient of an array of shape {shape} that was broadcast to {large}"
    got = impl.unbroadcast(dy, shape)
    assert_same(got, expected, name)
    assert_untouched([before], [dy], ["dy"])
    assert_same(impl.unbroadcast(dy, list(shape)), expected, f"{name}, the shape given as a list")
    single = impl.unbroadcast(dy.astype(np.float32), shape)
    assert_same(single, expected.astype(np.float32), f"{name}, in float32", 1e-5)


@pytest.mark.puzzle
@pytest.mark.hint(
    "name the code h: y = h W^T and h = x W are two linear layers; do them one after the other",
    dweight="W is used by the encoder and by the decoder: both gradients, added, each of shape (I, O)",
    dx="dy goes back through the decoder first, and then through the encoder",
)
def test_tied_backward(impl):
    rng = np.random.default_rng(7)
    cases = {}
    for before, ins, outs in (((3,), 4, 2), ((2, 3), 4, 5), ((2, 3, 2), 5, 4), ((2,), 3, 3)):
        arrays = {"x": rng.normal(size=(*before, ins)), "weight": rng.normal(size=(ins, outs))}
        cases[f"x {arrays['x'].shape}, weight {(ins, outs)}"] = arrays
    assert_operation(tied, lambda dy, cache: impl.tied_backward(dy, *cache), cases)


def tied(x, weight):
    """The forward of the puzzle, and what its backward is given."""
    return (x @ weight) @ weight.T, (x, weight)
