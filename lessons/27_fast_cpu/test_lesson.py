"""Checks of lesson 27."""

import itertools
import math
import tracemalloc
from importlib import import_module

import numpy as np
import pytest

from lessons.referee import assert_operation, assert_same, assert_trust, assert_untouched
from lessons.referee.gradients import named, several
from lessons.referee.values import assert_form
from tinyvit import ops

SUSPECTS = import_module("lessons.27_fast_cpu.suspects")
SOLUTION = import_module("lessons.27_fast_cpu.solution")
SIZES = ((3, 4), (5, 2), (4, 4), (1, 3), (6, 1))  # D, O


def inputs(D, O, seed=0):
    """Gains that are not 1, offsets and biases that are not 0."""
    rng = np.random.default_rng(seed)
    return {
        "gain": rng.normal(1, 0.5, D),
        "offset": rng.normal(size=D),
        "weight": rng.normal(size=(D, O)),
        "bias": rng.normal(size=O),
    }


FOLDED = "W'", "c'"


@pytest.mark.hint("the text has W' and the first number of c': 100 + 10 x 1 + 20 x 7")
def test_fold_by_hand(impl):
    arrays = [np.array(each, float) for each in ([2, 3], [10, 20], [[1, 5], [7, 1]], [100, 0])]
    weight, bias = several(impl.fold, FOLDED, *arrays)
    assert_same(weight, np.array([[2.0, 10.0], [21.0, 3.0]]), "W'")
    assert_same(bias, np.array([250.0, 70.0]), "c'")


@pytest.mark.hint(
    "multiply out (n * gain + offset) W + b: which part is multiplied by n, and which is not?",
    dtype="an array made without a dtype is float64",
)
@pytest.mark.parametrize("D, O", SIZES)
@pytest.mark.parametrize("dtype", [np.float64, np.float32], ids=["float64", "float32"])
def test_the_folded_layer_is_the_same_layer(impl, D, O, dtype):
    gain, offset, weight, bias = given = [each.astype(dtype) for each in inputs(D, O).values()]
    before = [each.copy() for each in given]
    folded_weight, folded_bias = several(impl.fold, FOLDED, *given)
    assert_untouched(before, given, ("gain", "offset", "weight", "bias"))
    n = np.random.default_rng(1).normal(size=(7, D)).astype(dtype)
    assert_same(folded_weight, gain[:, None] * weight, "W'", 1e-6)
    assert_same(n @ folded_weight + folded_bias, (n * gain + offset) @ weight + bias, "n W' + c'", 1e-5)


@pytest.mark.hint(
    "new arrays even if all gains are 1 and all offsets 0: the optimiser will change the old ones"
)
def test_fold_makes_new_arrays(impl):
    gain, offset, weight, bias = np.ones(3), np.zeros(3), np.arange(12.0).reshape(3, 4), np.arange(4.0)
    folded_weight, folded_bias = several(impl.fold, FOLDED, gain, offset, weight, bias)
    assert not np.may_share_memory(folded_weight, weight), "W' shares its memory with weight"
    assert not np.may_share_memory(folded_bias, bias), "c' shares its memory with bias"


@pytest.mark.hint("a gain may be 0: do not divide by it")
def test_a_gain_of_zero(impl):
    arrays = inputs(3, 4)
    gain, offset, weight, _ = arrays.values()
    gain[1] = 0
    rng = np.random.default_rng(12)
    dfolded_weight, dfolded_bias = rng.normal(size=(3, 4)), rng.normal(size=4)
    got = named(impl.unfold_gradients(dfolded_weight, dfolded_bias, gain, offset, weight), arrays)
    assert_same(got["gain"], np.einsum("io,io->i", weight, dfolded_weight), "dgain")


@pytest.mark.hint(
    "each gradient is the sum over all numbers of W' and c' that the parameter goes into",
    dgain="gain[i] goes into row i of W', each time times a number of weight, not of W'",
    doffset="offset[i] goes into every number of c'",
    dweight="weight goes into W' with the gain, and into c' with the offset: two ways, added up",
    dbias="bias goes into c', with a factor of 1",
    dtype="an array made without a dtype is float64",
)
@pytest.mark.parametrize("D, O", SIZES)
def test_unfold_gradients(impl, D, O):
    n = np.random.default_rng(2).normal(size=(5, D))

    def forward(gain, offset, weight, bias):
        rows = n.astype(gain.dtype)
        folded_weight, folded_bias = SOLUTION.fold(gain, offset, weight, bias)
        return rows @ folded_weight + folded_bias, (rows, gain, offset, weight)

    def backward(dy, cache):
        rows, *folded = cache
        return impl.unfold_gradients(rows.T @ dy, dy.sum(axis=0), *folded)

    assert_operation(forward, backward, {f"D = {D}, O = {O}": inputs(D, O, seed=3)})


@pytest.mark.hint("results are new arrays: dweight *= ... and so on only on an array of your own")
def test_unfold_gradients_leaves_alone_what_it_is_given(impl):
    arrays = inputs(3, 4)
    rng = np.random.default_rng(4)
    given = {"dfolded_weight": rng.normal(size=(3, 4)), "dfolded_bias": rng.normal(size=4), **arrays}
    del given["bias"]
    before = [each.copy() for each in given.values()]
    got = named(impl.unfold_gradients(*given.values()), arrays)
    assert_untouched(before, [*given.values()], [*given])
    for (name, result), (argument, array) in itertools.product(got.items(), given.items()):
        assert not np.shares_memory(result, array), (
            f"d{name} shares its memory with {argument}: return a copy"
        )


@pytest.mark.hint("the two functions together: fold once, work with W' and c', and unfold once at the end")
def test_layer_norm_and_linear_as_one(impl):
    arrays = inputs(6, 4, seed=5)
    gain, offset, weight, bias = arrays.values()
    rng = np.random.default_rng(6)
    x, dy = rng.normal(3, 2, (8, 6)), rng.normal(size=(8, 4))
    y, norm = ops.layer_norm(x, gain, offset)
    z, linear = ops.linear(y, weight, bias)
    dn, dweight, dbias = ops.linear_backward(dy, linear)
    _, dgain, doffset = ops.layer_norm_backward(dn, norm)

    n = norm[0]
    folded_weight, folded_bias = several(impl.fold, FOLDED, *arrays.values())
    assert_same(n @ folded_weight + folded_bias, z, "the output")
    got = named(impl.unfold_gradients(n.T @ dy, dy.sum(axis=0), gain, offset, weight), arrays)
    for (name, each), right in zip(got.items(), (dgain, doffset, dweight, dbias), strict=True):
        assert_same(each, right, f"d{name}")


@pytest.mark.hint(
    "by hand at h = 1: u = 0.8336, s = 0.8412, value 0.8412, slope 1.0830",
    slope="product rule: h is a factor and inside the gate, ds/du = 2 s (1 - s); take it at h, not at g",
    dtype="an array made without a dtype is float64",
)
@pytest.mark.parametrize("shape", [(4, 5), (1, 3), (7, 1), (401, 90), (37, 1200)], ids=str)
@pytest.mark.parametrize("dtype", [np.float64, np.float32], ids=["float64", "float32"])
def test_value_and_slope(impl, shape, dtype):
    h = np.random.default_rng(7).normal(0, 2, shape).astype(dtype)
    g, slope = right_gelu(h)
    got = impl.gelu_and_slope(h)
    tolerance = 1e-9 if dtype == np.float64 else 1e-5
    assert_same(got, g, "the value", tolerance)
    assert_same(h, slope, "slope", tolerance)
    assert not np.may_share_memory(got, h), "the value shares its memory with h, which holds the slope"


def right_gelu(h):
    g, cache = ops.gelu(h.copy(), "tanh")
    return g, ops.gelu_backward(np.ones_like(h), cache)


@pytest.mark.hint("write into rows of h itself: h[...] = ..., or an operation with out=; no reshape, no copy")
def test_the_slope_is_written_into_any_view(impl):
    base = np.random.default_rng(8).normal(size=(50, 9))
    h, others = base[::2, 1:8], base.copy()
    g, slope = right_gelu(h)
    assert_same(impl.gelu_and_slope(h), g, "the value of a view")
    assert_same(h, slope, "the slope, written into a view")
    others[::2, 1:8] = slope
    assert_same(base, others, "the array that h is a part of")


@pytest.mark.hint("inf / inf and 0 * inf are NaN: tanh is safe, and so is exp in a denominator only")
@pytest.mark.parametrize("dtype", [np.float64, np.float32], ids=["float64", "float32"])
def test_far_from_zero(impl, dtype):
    h = np.array([[-1e4, -100, -12, 0, 12, 100, 1e4]], dtype)
    expected = np.array([[0, 0, 0, 0, 12, 100, 1e4]], dtype)
    assert_same(impl.gelu_and_slope(h), expected, "the value far from 0", 1e-6)
    assert_same(h, np.array([[0, 0, 0, 0.5, 1, 1, 1]], dtype), "the slope far from 0", 1e-6)


@pytest.mark.hint(
    "how many rows fit into a piece depends on how long they are; one row at least; only g has the full "
    "size. If a piece is one row already, count the arrays that are in use at a time"
)
@pytest.mark.parametrize("shape", [(2000, 700), (60, 24_000), (4, 400_000)], ids=str)
def test_in_pieces(impl, shape):
    h = np.random.default_rng(9).standard_normal(shape, dtype=np.float32)
    impl.gelu_and_slope(h[:1].copy())  # so that nothing is counted that is made only once
    tracemalloc.start()
    try:
        impl.gelu_and_slope(h)
        own = tracemalloc.get_traced_memory()[1] - h.nbytes
    finally:
        tracemalloc.stop()
    most = max(2**20, 6 * h[0].nbytes) + 2**14
    assert own <= most, (
        f"for h {shape}, gelu_and_slope had {own / 2**20:.1f} MiB in arrays besides its result, expected at "
        f"most {most / 2**20:.1f}"
    )


class Viewed(np.ndarray):
    """An array that counts the views and results that are made of it."""

    count = 0

    def __array_finalize__(self, other):
        Viewed.count += 1


@pytest.mark.hint(
    "a piece of one row costs a dozen calls for a handful of numbers: how many rows fit into 1 MiB?"
)
def test_short_rows_share_a_piece(impl):
    h = np.random.default_rng(10).normal(size=(4096, 8))
    g, slope = right_gelu(h)
    viewed = h.view(Viewed)
    Viewed.count = 0
    assert_same(np.asarray(impl.gelu_and_slope(viewed)), g, "the value of short rows")
    assert_same(h, slope, "the slope of short rows")
    made = Viewed.count
    assert made <= 2048, f"{made} views and arrays were made for 4096 rows of 8: are the pieces single rows?"


@pytest.mark.hint(
    "compare n W' + c' with the plain layer, check the gradients, and look at all arguments afterwards",
    right="in float64 a right pair differs by rounding only: use np.allclose, not ==",
    scaled_offset="a gradient check compares a fold with itself: look at the values too",
    no_bias="look at the values, with a bias that is not 0",
    fold_in_place="copy what you give to fold, and compare afterwards",
    unit_gain="try gains that are not 1",
    no_offset="try offsets that are not 0",
    one_output="try more than one output, and look at every gradient",
    mean_bias="look at every gradient, that of the bias too",
    gain_across="try as many inputs as outputs too: a gain along the wrong axis then has the right shape",
    unfold_in_place="copy what you give to unfold_gradients, and compare afterwards",
)
def test_trust_folding(impl):
    trusted = {"the model answer": (SOLUTION.fold, SOLUTION.unfold_gradients), "another": SUSPECTS.RIGHT}
    assert_trust(impl.trust_folding, trusted, SUSPECTS.WRONG, "pair")


def attention_arrays(heads, K, dtype="float64"):
    rng = np.random.default_rng(10)
    D = heads * K
    shapes = (D, 3 * D), (3 * D,), (D, D), (D,)
    return [rng.normal(size=shape).astype(dtype) for shape in shapes]


PARAMETERS = "qkv_weight", "qkv_bias", "out_weight", "out_bias"


def unscaled_attention(x, qkv_weight, qkv_bias, out_weight, out_bias, heads):
    """Attention among the rows of x (N, D), head by head, without 1/sqrt(K)."""
    q, k, v = np.split(x @ qkv_weight + qkv_bias, 3, axis=1)
    outputs = []
    for columns in np.split(np.arange(len(out_weight)), heads):
        outputs.append(ops.softmax(q[:, columns] @ k[:, columns].T)[0] @ v[:, columns])
    return np.concatenate(outputs, axis=1) @ out_weight + out_bias


@pytest.mark.puzzle
@pytest.mark.hint(
    "1/sqrt(K) multiplies whole queries, their bias too, with K and not D; what do the biases of the keys "
    "add to a row of scores, and those of the values to A v?"
)
@pytest.mark.parametrize("heads, K", [(1, 4), (2, 3), (3, 2), (4, 1)])
def test_folded_attention_is_the_same_attention(impl, heads, K):
    arrays = attention_arrays(heads, K)
    before = [each.copy() for each in arrays]
    folded = several(impl.fold_attention, PARAMETERS, *arrays, heads)
    assert_untouched(before, arrays, PARAMETERS)
    x = np.random.default_rng(11).normal(size=(5, heads * K)) / math.sqrt(heads * K)
    expected = ops.attention(x[None], *arrays, heads)[0][0]
    assert_same(folded[1][heads * K :], np.zeros(2 * heads * K), "the new biases of keys and values")
    assert_same(unscaled_attention(x, *folded, heads), expected, f"attention of {heads} heads of width {K}")


@pytest.mark.puzzle
@pytest.mark.hint("four new arrays, in the order of the arguments; one made without a dtype is float64")
def test_folded_attention_in_float32(impl):
    arrays = attention_arrays(2, 3, "float32")
    folded = several(impl.fold_attention, PARAMETERS, *arrays, 2)
    for got, given, name in zip(folded, arrays, PARAMETERS, strict=True):
        assert_form(got, given.shape, given.dtype, f"the new {name}")
        assert not np.may_share_memory(got, given), f"the new {name} shares its memory with {name}"
