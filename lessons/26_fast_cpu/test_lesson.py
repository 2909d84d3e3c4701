"""Checks of lesson 26."""

import importlib
import itertools
import math
import threading
import time
import tracemalloc
import weakref

import numpy as np
import pytest

from lessons.referee import assert_operation, assert_same, assert_trust, assert_untouched
from lessons.referee.gradients import named, several
from lessons.referee.values import assert_form
from tinyvit import objectives, ops
from tinyvit.gradcheck import random_params
from tinyvit.model import ViTConfig

SUSPECTS = importlib.import_module("lessons.26_fast_cpu.suspects")
SOLUTION = importlib.import_module("lessons.26_fast_cpu.solution")
CONFIG = ViTConfig(8, patch_size=4, width=6, mlp_width=7, heads=2, layers=2, classes=3)
SIZES = ((3, 4), (5, 2), (4, 4), (1, 3), (6, 1))  # D, O


def batch(count, dtype="float64", seed=0):
    """A small model with random parameters and `count` images, numbered in their first pixel."""
    rng = np.random.default_rng(seed)
    params = random_params(CONFIG, rng, dtype)
    images = rng.normal(size=(count, 8, 8, 3)).astype(dtype)
    images[:, 0, 0, 0] = np.arange(count)
    return params, images, rng.integers(0, 3, count)


def batch_arguments(count, dtype="float64", seed=0):
    """The first four arguments of gradients_on_threads."""
    return CONFIG, *batch(count, dtype, seed)


class WatchedLoss:
    """objectives.loss_and_grads, but each piece waits for a while first; notes how many run at a time.

    `sizes` has the number of images of each piece, `tables` how many tables of gradients were alive at most,
    and `shared` is whether two pieces that ran at a time were added to one table.
    """

    def __init__(self, seconds):
        self.seconds, self.sizes, self.most, self.tables, self.shared = seconds, [], 0, 0, False
        self._right, self._lock = objectives.loss_and_grads, threading.Lock()
        self.added = (0,)  # to the loss of a piece, by its first image
        self._alive, self._running = {}, []  # tables, by id; the ids of those that pieces are added to now

    def __call__(self, config, params, images, targets, grads, *args, **kwargs):
        assert len(images), "a piece has no images, expected sizes that differ by one at most"
        table = id(grads.flat)
        with self._lock:
            self.sizes.append(len(images))
            self.shared |= table in self._running
            self._running.append(table)
            self.most = max(self.most, len(self._running))
            self._alive[table] = weakref.ref(grads.flat)
            self.tables = max(self.tables, sum(alive() is not None for alive in self._alive.values()))
        time.sleep(self.seconds(int(images[0, 0, 0, 0])))
        result = self._right(config, params, images, targets, grads, *args, **kwargs)
        with self._lock:
            self._running.remove(table)
        number = int(images[0, 0, 0, 0]) % len(self.added)
        return result + result.dtype.type(self.added[number])


def loss_and_table(result):
    """The two results of gradients_on_threads, if that is what they are."""
    fits = isinstance(result, tuple | list) and len(result) == 2 and hasattr(result[1], "flat")
    assert fits and np.ndim(result[0]) == 0 and not isinstance(result[1], np.ndarray), (
        "gradients_on_threads returned something else than the loss and a table like params.zeros_like()"
    )
    return result


def watch(monkeypatch, impl, seconds):
    """Have impl use a WatchedLoss; seconds(first image of a piece) is how long that piece waits."""
    watched = WatchedLoss(seconds)
    monkeypatch.setattr(objectives, "loss_and_grads", watched)
    if hasattr(impl, "loss_and_grads"):  # imported by name
        monkeypatch.setattr(impl, "loss_and_grads", watched)
    return watched


@pytest.mark.hint(
    "each thread's table is params.zeros_like(), not its .flat; a piece's share is the number of its images "
    "divided by B, and the loss has been multiplied by it already"
)
@pytest.mark.parametrize("pieces, threads", [(1, 1), (3, 2), (7, 3), (2, 4)])
def test_the_pieces_add_up_to_the_batch(impl, pieces, threads):
    params, images, labels = batch(7)
    arrays = [params.flat, images, labels]
    before = [array.copy() for array in arrays]
    expected = params.zeros_like()
    expected_loss = objectives.loss_and_grads(CONFIG, params, images, labels, expected)
    loss, grads = loss_and_table(impl.gradients_on_threads(CONFIG, params, images, labels, pieces, threads))
    what = f"of 7 images in {pieces} pieces on {threads} threads"
    assert_same(float(loss), float(expected_loss), f"the loss {what}")
    for parameter in params:
        assert_same(grads[parameter], expected[parameter], f"the gradient of {parameter} {what}")
    assert_untouched(before, arrays)
    kept = grads.flat.copy()
    impl.gradients_on_threads(CONFIG, params, images[::-1].copy(), labels, pieces, threads)
    assert np.array_equal(grads.flat, kept), "a second call changed what the first had returned"


@pytest.mark.hint("piece i begins at image B*i//pieces and ends before B*(i+1)//pieces")
def test_the_pieces_are_nearly_equal(impl, monkeypatch):
    for count, pieces, expected in ((11, 4, [2, 3, 3, 3]), (9, 4, [2, 2, 2, 3]), (8, 6, [1, 1, 1, 1, 2, 2])):
        watched = watch(monkeypatch, impl, lambda first: 0)
        impl.gradients_on_threads(*batch_arguments(count), pieces=pieces, threads=2)
        monkeypatch.undo()
        assert sorted(watched.sizes) == expected, (
            f"{count} images in {pieces} pieces: {sorted(watched.sizes)} images, expected {expected}"
        )


@pytest.mark.hint(
    "with ThreadPoolExecutor(threads) as pool: pool.map(work, ...) has `threads` calls of work at a time"
)
def test_the_pieces_run_side_by_side(impl, monkeypatch):
    watched = watch(monkeypatch, impl, lambda first: 0.05)
    impl.gradients_on_threads(*batch_arguments(8), pieces=6, threads=3)
    assert len(watched.sizes) == 6, (
        f"objectives.loss_and_grads was called {len(watched.sizes)} times, expected once for each of 6 pieces"
    )
    assert watched.most > 1, "the pieces ran one after another, expected 3 at a time"
    assert watched.most <= 3, f"{watched.most} pieces ran at a time, expected 3, the number of threads"


@pytest.mark.hint("one table for each thread, which all of its pieces are added to")
def test_a_table_for_each_thread(impl, monkeypatch):
    watched = watch(monkeypatch, impl, lambda first: 0.001)
    impl.gradients_on_threads(*batch_arguments(12), pieces=12, threads=2)
    assert watched.tables <= 3, (
        f"{watched.tables} tables of gradients were alive at a time, expected one for each of 2 threads"
    )


@pytest.mark.hint(
    "let work(t) go through all the pieces of thread t: if the pool hands out single pieces, any thread may "
    "take the next one, and chance decides which two run at a time"
)
def test_no_two_threads_add_to_one_table(impl, monkeypatch):
    # while the first piece waits, the other threads get through all pieces that are not kept for its thread
    watched = watch(monkeypatch, impl, lambda first: 0.1 if first == 0 else 0.001)
    impl.gradients_on_threads(*batch_arguments(12), pieces=12, threads=3)
    assert not watched.shared, "two threads added to one table at a time, expected a table for each thread"


@pytest.mark.hint(
    "each thread adds to a table of its own, which pieces it takes is fixed, and at the end the tables are "
    "added in a fixed order: that of pool.map, not the order in which they are finished"
)
def test_the_same_bits_whoever_finishes_first(impl, monkeypatch):
    arguments = batch_arguments(16, "float32")
    losses, gradients = [], []
    for seconds in (lambda first: 0.003 * first, lambda first: 0.1 if first == 0 else 0.001):
        watched = watch(monkeypatch, impl, seconds)
        watched.added = (1e8, 1, -1e8, 1)  # whose sum depends on the order, as at the start of the lesson
        result = impl.gradients_on_threads(*arguments, pieces=16, threads=4)
        loss, grads = loss_and_table(result)
        assert grads.flat.dtype == np.float32, (
            f"the gradients have dtype {grads.flat.dtype}, expected float32"
        )
        losses.append(float(loss))
        gradients.append(grads.flat.copy())
        monkeypatch.undo()
    differing = int((gradients[0] != gradients[1]).sum())
    assert differing == 0, (
        f"two calls on the same batch differ in {differing} of {len(gradients[0])} gradients: once the first "
        "piece was finished first, once last"
    )
    assert losses[0] == losses[1], (
        f"two calls on the same batch have the losses {losses[0]!r} and {losses[1]!r}: once the first piece "
        "was finished first, once last"
    )


@pytest.mark.hint(
    "the whole batch is one call of objectives.loss_and_grads; the sizes of batch and pieces matter",
    right="in float64, compare with a tolerance: pieces are added up in another order than a batch",
    equal_shares="try a number of images that the number of pieces does not divide",
    two_rounds_at_most="try many pieces on few threads",
    idle_threads_repeat="try more threads than pieces",
    loss_of_the_last_piece="look at the loss too",
    order_by_chance="call twice in float32, and compare the bits with np.array_equal",
    one_table_for_all="keep the first result, call with another batch, and look at the first result again",
    pixels_spoiled="compare images, labels and params.flat before and after",
    labels_cleared="compare labels too before and after, not only images",
    step_taken="compare params.flat too before and after, not only images",
)
def test_trust_gradients(impl):
    assert_trust(impl.trust_gradients, SUSPECTS.RIGHT, SUSPECTS.wrong(), "function")


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


@pytest.mark.hint("a gain may be 0: do not divide by it")
def test_a_gain_of_zero(impl):
    arrays = inputs(3, 4)
    gain, offset, weight, _ = arrays.values()
    gain[1] = 0
    rng = np.random.default_rng(12)
    dfolded_weight, dfolded_bias = rng.normal(size=(3, 4)), rng.normal(size=4)
    got = named(impl.unfold_gradients(dfolded_weight, dfolded_bias, gain, offset, weight), arrays)
    assert_same(got["gain"], np.einsum("io,io->i", weight, dfolded_weight), "dgain")


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
