"""Checks of lesson 26."""

import importlib
import threading
import time
import weakref

import numpy as np
import pytest

from lessons.referee import assert_same, assert_trust, assert_untouched
from tinyvit import objectives
from tinyvit.checking import random_params
from tinyvit.model import ViTConfig

SUSPECTS = importlib.import_module("lessons.26_threads.suspects")
CONFIG = ViTConfig(8, patch_size=4, width=6, mlp_width=7, heads=2, layers=2, classes=3)


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


def loss_and_table(result, name):
    """The two results of a function of this name, if that is what they are."""
    fits = isinstance(result, tuple) and len(result) == 2 and hasattr(result[1], "flat")
    assert fits and np.ndim(result[0]) == 0 and not isinstance(result[1], np.ndarray), (
        f"{name} returned something else than the loss and a table like params.zeros_like()"
    )
    return result


def watch(monkeypatch, impl, seconds):
    """Have impl use a WatchedLoss; seconds(first image of a piece) is how long that piece waits."""
    watched = WatchedLoss(seconds)
    monkeypatch.setattr(objectives, "loss_and_grads", watched)
    if hasattr(impl, "loss_and_grads"):  # imported by name
        monkeypatch.setattr(impl, "loss_and_grads", watched)
    return watched


def assert_adds_up(impl, name, pieces, threads):
    """Assert that loss and gradients of 7 images in pieces are the batch's, and nothing was changed."""
    params, images, labels = batch(7)
    arrays = [params.flat, images, labels]
    before = [array.copy() for array in arrays]
    expected = params.zeros_like()
    expected_loss = objectives.loss_and_grads(CONFIG, params, images, labels, expected)
    function = getattr(impl, name)
    loss, grads = loss_and_table(function(CONFIG, params, images, labels, pieces, threads), name)
    what = f"of 7 images in {pieces} pieces on {threads} threads"
    assert_same(float(loss), float(expected_loss), f"the loss {what}")
    for parameter in params:
        assert_same(grads[parameter], expected[parameter], f"the gradient of {parameter} {what}")
    assert_untouched(before, arrays)
    kept = grads.flat.copy()
    function(CONFIG, params, images[::-1].copy(), labels, pieces, threads)
    assert np.array_equal(grads.flat, kept), f"a second call of {name} changed what the first had returned"


@pytest.mark.hint(
    "each thread's table is params.zeros_like(), not its .flat; a piece's share is the number of its images "
    "divided by B, and the loss has been multiplied by it already"
)
@pytest.mark.parametrize("pieces, threads", [(1, 1), (3, 2), (7, 3), (2, 4)])
def test_the_pieces_add_up_to_the_batch(impl, pieces, threads):
    assert_adds_up(impl, "gradients_on_threads", pieces, threads)


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
        loss, grads = loss_and_table(result, "gradients_on_threads")
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


@pytest.mark.puzzle
@pytest.mark.hint("the shares are those of gradients_on_threads")
@pytest.mark.parametrize("pieces, threads", [(1, 1), (3, 2), (7, 3), (2, 4)])
def test_for_any_threads_the_pieces_add_up(impl, pieces, threads):
    assert_adds_up(impl, "gradients_for_any_threads", pieces, threads)


@pytest.mark.puzzle
@pytest.mark.hint(
    "a table for each piece, each added to the result in its turn: first piece 0, then piece 1, ..."
)
def test_the_same_bits_on_any_number_of_threads(impl, monkeypatch):
    arguments = batch_arguments(13, "float32")
    results = {}
    for threads in (1, 2, 3, 5):
        watch(monkeypatch, impl, lambda first: 0.002 * ((7 * first) % 5))
        result = impl.gradients_for_any_threads(*arguments, pieces=9, threads=threads)
        loss, grads = loss_and_table(result, "gradients_for_any_threads")
        assert grads.flat.dtype == np.float32, (
            f"the gradients have dtype {grads.flat.dtype}, expected float32"
        )
        results[threads] = float(loss), grads.flat.copy()
        monkeypatch.undo()
    for threads in (2, 3, 5):
        differing = int((results[threads][1] != results[1][1]).sum())
        assert differing == 0, (
            f"on {threads} threads {differing} of {len(results[1][1])} differ from those on one thread"
        )
        assert results[threads][0] == results[1][0], (
            f"the loss is {results[threads][0]!r} on {threads} threads, and {results[1][0]!r} on one"
        )


@pytest.mark.puzzle
@pytest.mark.hint(
    "a piece may begin only when the oldest unfinished one is no more than `threads` pieces behind; "
    "once a table has been added, drop it or use it again"
)
def test_few_tables_at_a_time(impl, monkeypatch):
    # the first piece is the slowest: whoever lets the others run ahead collects their tables meanwhile
    watched = watch(monkeypatch, impl, lambda first: 0.15 if first == 0 else 0.001)
    impl.gradients_for_any_threads(*batch_arguments(12), pieces=12, threads=3)
    assert 1 < watched.most <= 3, f"{watched.most} pieces ran at a time, expected up to 3"
    assert watched.tables + 1 <= 5, (  # and the result's
        f"{watched.tables + 1} tables of gradients were alive at a time, expected at most 5 on 3 threads"
    )
