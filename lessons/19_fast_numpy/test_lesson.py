"""Checks of lesson 19."""

import threading
import time
import tracemalloc

import numpy as np
import pytest

from lessons.referee import assert_same, assert_untouched
from tinyvit import objectives
from tinyvit.checking import random_params
from tinyvit.model import ViTConfig
from tinyvit.ops import gelu

CONFIG = ViTConfig(8, patch_size=4, width=6, mlp_width=7, heads=2, layers=2, classes=3)


def batch(count, dtype="float64", seed=0):
    """A small model with random parameters and `count` images, numbered in their first pixel."""
    rng = np.random.default_rng(seed)
    params = random_params(CONFIG, rng, dtype)
    images = rng.normal(size=(count, 8, 8, 3)).astype(dtype)
    images[:, 0, 0, 0] = np.arange(count)
    return params, images, rng.integers(0, 3, count)


class Watched(np.ndarray):
    """An array that notes the NumPy operations it goes through, in `seen`."""

    seen = frozenset()

    def __array_ufunc__(self, ufunc, method, *inputs, **kwargs):
        Watched.seen |= {f"{ufunc.__name__}.{method}"}
        plain = [array.view(np.ndarray) if isinstance(array, Watched) else array for array in inputs]
        if "out" in kwargs:
            kwargs["out"] = tuple(np.asarray(array) for array in kwargs["out"])
        return getattr(ufunc, method)(*plain, **kwargs)


class WatchedLoss:
    """objectives.loss_and_grads, but each piece waits for a while first; notes how many run at a time."""

    def __init__(self, seconds):
        self.seconds, self.calls, self.running, self.most = seconds, 0, 0, 0
        self._right, self._lock = objectives.loss_and_grads, threading.Lock()

    def __call__(self, config, params, images, *args, **kwargs):
        with self._lock:
            self.calls += 1
            self.running += 1
            self.most = max(self.most, self.running)
        time.sleep(self.seconds(int(images[0, 0, 0, 0])))
        result = self._right(config, params, images, *args, **kwargs)
        with self._lock:
            self.running -= 1
        return result


def loss_and_table(result):
    """The two results of gradients_on_threads, if that is what they are."""
    fits = isinstance(result, tuple) and len(result) == 2 and hasattr(result[1], "flat")
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


@pytest.mark.hint("by hand at x = 1: u = 0.8336, exp(-2u) = 0.1888, y = 1 / 1.1888; the constant is 0.044715")
def test_gelu_is_the_tanh_form(impl):
    x = np.array([[-3.0, -1.0, -0.1], [0.0, 1.0, 2.5]])
    expected, before = gelu(x, "tanh")[0], x.copy()
    y = impl.gelu_tanh(x)
    assert_untouched([before], [x])
    assert_same(y, expected, "gelu_tanh(x)")


@pytest.mark.hint(
    "with exp(-2u) a large x gives x / (1 + 0), a very negative one x / inf = 0; exp(2u) gives inf/inf"
)
def test_gelu_of_large_numbers(impl):
    x = np.array([-1e3, -30.0, 30.0, 1e3])
    assert_same(impl.gelu_tanh(x), np.array([0.0, 0.0, 30.0, 1e3]), "gelu_tanh of large numbers")


@pytest.mark.hint(
    "y = x * x makes the array; after that y *= ..., y -= ..., np.exp(y, out=y), np.divide(x, y, out=y)"
)
def test_gelu_makes_one_array(impl):
    x = np.random.default_rng(1).standard_normal((300, 100), dtype=np.float32)
    impl.gelu_tanh(x)  # once without counting, so that nothing is counted that is made only once
    tracemalloc.start()
    try:
        impl.gelu_tanh(x)
        arrays = tracemalloc.get_traced_memory()[1] / x.nbytes
    finally:
        tracemalloc.stop()
    assert arrays < 1.5, (
        f"gelu_tanh had {arrays:.1f} new arrays of the size of x at a time, expected 1: the result"
    )


@pytest.mark.hint(
    "the mean of each row: over the last axis, divided by its length D; the axis is kept, with length 1"
)
def test_row_means(impl):
    x = np.random.default_rng(2).normal(3, 2, (2, 4, 5))
    before = x.copy()
    assert_same(impl.row_means(x), x.mean(axis=-1, keepdims=True), "row_means(x)", 1e-12)
    assert_same(impl.row_means(x[0]), x[0].mean(axis=-1, keepdims=True), "row_means of a matrix", 1e-12)
    assert_untouched([before], [x])


@pytest.mark.hint("x.reshape(-1, D) @ column, with a column (D, 1) of 1/D; then the shape (..., 1)")
def test_row_means_is_a_product(impl):
    x = np.random.default_rng(3).normal(size=(3, 4)).view(Watched)
    Watched.seen = frozenset()
    impl.row_means(x)
    assert "add.reduce" not in Watched.seen, "row_means adds up with mean or sum, expected a matrix product"


@pytest.mark.hint(
    "np.full((D, 1), 1 / D, dtype=x.dtype): without dtype the column is float64, and so is the product"
)
def test_float32_stays_float32(impl):
    x = np.random.default_rng(4).standard_normal((2, 3, 4), dtype=np.float32)
    for name in ("gelu_tanh", "row_means"):
        got = getattr(impl, name)(x)
        assert got.dtype == np.float32, f"{name}(x) has dtype {got.dtype}, expected float32"


@pytest.mark.hint(
    "each thread's table is params.zeros_like(), not its .flat; piece i is images[B*i//pieces : "
    "B*(i+1)//pieces], its share their number divided by B, and the loss has been multiplied by it already"
)
@pytest.mark.parametrize("pieces, threads", [(1, 1), (3, 2), (7, 3)])
def test_the_pieces_add_up_to_the_batch(impl, pieces, threads):
    params, images, labels = batch(7)
    arrays = [params.flat, images, labels]
    before = [array.copy() for array in arrays]
    expected = params.zeros_like()
    expected_loss = objectives.loss_and_grads(CONFIG, params, images, labels, expected)
    loss, grads = loss_and_table(impl.gradients_on_threads(CONFIG, params, images, labels, pieces, threads))
    what = f"of 7 images in {pieces} pieces on {threads} threads"
    assert_same(float(loss), float(expected_loss), f"the loss {what}")
    for name in params:
        assert_same(grads[name], expected[name], f"the gradient of {name} {what}")
    assert_untouched(before, arrays)


@pytest.mark.hint(
    "with ThreadPoolExecutor(threads) as pool: pool.map(work, ...) has `threads` calls of work at a time"
)
def test_the_pieces_run_side_by_side(impl, monkeypatch):
    watched = watch(monkeypatch, impl, lambda first: 0.05)
    impl.gradients_on_threads(*batch_arguments(8), pieces=6, threads=3)
    assert watched.calls == 6, (
        f"objectives.loss_and_grads was called {watched.calls} times, expected once for each of 6 pieces"
    )
    assert watched.most > 1, "the pieces ran one after another, expected 3 at a time"
    assert watched.most <= 3, f"{watched.most} pieces ran at a time, expected 3, the number of threads"


@pytest.mark.hint(
    "each thread adds to a table of its own, which pieces it takes is fixed, and at the end the tables are "
    "added in a fixed order: that of pool.map, not the order in which they are finished"
)
def test_the_same_bits_whoever_finishes_first(impl, monkeypatch):
    arguments = batch_arguments(16, "float32")
    gradients = []
    for seconds in (lambda first: 0.003 * first, lambda first: 0.003 * (15 - first)):
        watch(monkeypatch, impl, seconds)
        _, grads = loss_and_table(impl.gradients_on_threads(*arguments, pieces=8, threads=4))
        assert grads.flat.dtype == np.float32, (
            f"the gradients have dtype {grads.flat.dtype}, expected float32"
        )
        gradients.append(grads.flat.copy())
        monkeypatch.undo()
    differing = int((gradients[0] != gradients[1]).sum())
    assert differing == 0, (
        f"two calls on the same batch differ in {differing} of {len(gradients[0])} gradients: once the first "
        "pieces were finished first, once the last"
    )


def batch_arguments(count, dtype="float64"):
    """The first four arguments of gradients_on_threads."""
    params, images, labels = batch(count, dtype)
    return CONFIG, params, images, labels
