"""Checks of lesson 1."""

import importlib

import numpy as np
import pytest

from lessons.referee import assert_exposed, assert_operation, assert_same, assert_untouched
from lessons.referee.gradients import outcome
from tinyvit.ops import cross_entropy, softmax, softmax_backward

SUSPECTS = importlib.import_module("lessons.01_softmax_cross_entropy.suspects").SUSPECTS
HALF = np.log(np.array([[0.5, 0.25, 0.25]]))  # logits whose softmax is known


def called(impl, logits, targets, smoothing=0.0):
    """Loss and cache of the learner's cross_entropy, with the loss as an array."""
    loss, cache = outcome(impl.cross_entropy(logits, targets, smoothing))
    return np.asarray(loss), cache


def case(kind, seed=0):
    """Logits (4, 6), and labels or rows of probabilities for them."""
    rng = np.random.default_rng(seed)
    logits = rng.normal(0, 2, (4, 6))
    targets = rng.integers(0, 6, 4) if kind == "labels" else rng.dirichlet(np.ones(6), 4)
    return logits, targets


def assert_loss_gradient(impl, logits, targets, smoothing=0.0):
    """cross_entropy_backward against a small push of every logit, and its form in float32."""

    def backward(dloss, cache):
        dlogits = impl.cross_entropy_backward(cache)
        return None if dlogits is None else dlogits * float(dloss)

    assert_operation(
        lambda z: impl.cross_entropy(z, targets.copy(), smoothing), backward, {"it": {"logits": logits}}
    )


@pytest.mark.hint(
    "every x_i of a row moves every y_j of it: here the entries with i = j alone give 0.25, 0, 0"
)
def test_softmax_backward_by_hand(impl):
    y = np.array([[0.5, 0.25, 0.25]])
    dx = impl.softmax_backward(np.array([[1.0, 0.0, 0.0]]), y)
    assert_same(dx, np.array([[0.25, -0.125, -0.125]]), "dx")


@pytest.mark.hint(
    "every row by itself: the sum runs over the last axis, however many axes there are",
    inplace="work on a new array: dy * y, not dy *= y",
    cache="the cache is needed again: make a new array and leave y as it is",
    dtype="an array of ones or zeros is float64 unless it is given a dtype",
    crash="the sum runs over the last axis, axis=-1, and keeps it: keepdims=True",
)
def test_softmax_backward_with_any_number_of_axes(impl):
    rng = np.random.default_rng(1)
    shapes = {"three axes": (2, 3, 4), "two axes": (3, 4), "one axis": (5,), "four axes": (2, 1, 3, 5)}
    cases = {label: {"x": rng.normal(size=shape)} for label, shape in shapes.items()}
    assert_operation(softmax, impl.softmax_backward, cases)


@pytest.mark.hint("softmax does not see a constant added to a row: its gradient adds up to 0 along each row")
def test_the_gradient_of_softmax_adds_up_to_0_along_each_row(impl):
    rng = np.random.default_rng(2)
    y, cache = softmax(rng.normal(size=(3, 6)))
    dx = impl.softmax_backward(rng.normal(size=y.shape), cache)
    assert_same(np.sum(dx, axis=-1), np.zeros(3), "the sum of dx along each row", 1e-12)


@pytest.mark.hint("y holds exact zeros here: do not divide by it, and take no log of it")
def test_softmax_backward_after_scores_of_a_thousand(impl):
    _, cache = softmax(np.array([[1000.0, 0.0, 1000.0], [-2000.0, 0.0, -1000.0]]))
    dx = impl.softmax_backward(np.array([[3.0, 5.0, 1.0], [1.0, 2.0, 4.0]]), cache)
    assert_same(dx, np.array([[0.5, 0.0, -0.5], [0.0, 0.0, 0.0]]), "dx")


@pytest.mark.hint("work on a new array: dy * y, not dy *= y")
def test_softmax_backward_keeps_float32_and_its_inputs(impl):
    rng = np.random.default_rng(7)
    y, _ = softmax(rng.normal(size=(3, 4)).astype(np.float32))
    dy = rng.normal(size=(3, 4)).astype(np.float32)
    before = [dy.copy(), y.copy()]
    dx = impl.softmax_backward(dy, y)
    assert_untouched(before, [dy, y], ["dy", "y"])
    assert_same(dx, softmax_backward(dy, y), "dx", 1e-5)


@pytest.mark.hint(
    "with p = 0.5 for the right class the loss is -log 0.5; the batch takes the mean",
    shape="the loss is one number, the mean over the rows",
)
def test_the_loss_by_hand(impl):
    logits, labels = np.concatenate([HALF, HALF]), np.array([0, 1])
    loss, _ = called(impl, logits, labels)
    assert_same(loss, (np.log(2) + np.log(4)) / 2, "the loss")


@pytest.mark.hint("targets of shape (B, C) are used as they are: -sum over c of t log p, then the mean")
def test_soft_targets(impl):
    loss, _ = called(impl, HALF, np.array([[0.5, 0.5, 0.0]]))
    assert_same(loss, 1.5 * np.log(2), "the loss")


@pytest.mark.hint("smoothing replaces t by (1 - s) t + s / C, for labels and for soft targets alike")
def test_label_smoothing(impl):
    loss, _ = called(impl, HALF, np.array([0]), 0.3)  # t = 0.8, 0.1, 0.1
    assert_same(loss, 0.8 * np.log(2) + 0.2 * np.log(4), "the loss of a label")
    loss, _ = called(impl, HALF, np.array([[0.0, 0.5, 0.5]]), 0.3)  # t = 0.1, 0.45, 0.45
    assert_same(loss, 0.1 * np.log(2) + 0.9 * np.log(4), "the loss of soft targets")


@pytest.mark.hint(
    "every row counts one B-th in the mean, and so does its gradient",
    cache="the cache is needed again: p - t is a new array, p -= t is not",
    inplace="z = logits - max, not logits -= max",
    dtype="make the targets in the dtype of the logits",
)
@pytest.mark.parametrize("kind", ["labels", "soft targets"])
def test_backward(impl, kind):
    assert_loss_gradient(impl, *case(kind, 3))


@pytest.mark.hint("the cache must hold the targets that the loss was computed with, after smoothing")
@pytest.mark.parametrize("kind", ["labels", "soft targets"])
def test_backward_with_smoothing(impl, kind):
    assert_loss_gradient(impl, *case(kind, 4), 0.2)


@pytest.mark.hint("p and t are both distributions, so each row of the gradient adds up to 0. Is t one?")
def test_the_gradient_of_the_loss_adds_up_to_0_along_each_row(impl):
    logits, labels = case("labels", 5)
    _, cache = called(impl, logits, labels, 0.1)
    total = np.asarray(impl.cross_entropy_backward(cache)).sum(axis=1)
    assert_same(total, np.zeros(4), "the sum of dlogits along each row", 1e-12)


@pytest.mark.hint(
    "rows of 0 and 1 are targets like any others: bring them into the dtype of the logits",
    dtype="an integer times a float32 is float64 for NumPy: bring the targets into the dtype of the logits",
    crash="integers cannot be multiplied by 0.8 in place: bring the targets into the dtype of the logits",
    dlogits="(p - t) / B: are its sign and its 1/B right?",
)
@pytest.mark.parametrize("dtype", ["int64", "uint8", "bool"])
def test_soft_targets_that_are_whole_numbers(impl, dtype):
    logits, labels = case("labels", 8)
    rows = np.eye(6)[labels].astype(dtype)
    for smoothing in (0.0, 0.2):
        for kind, tolerance in (("float64", 1e-9), ("float32", 1e-5)):
            loss, cache = called(impl, logits.astype(kind), rows, smoothing)
            expected, (p, t) = cross_entropy(logits, labels, smoothing)
            assert_same(loss, np.asarray(expected).astype(kind), "the loss", tolerance)
            dlogits = impl.cross_entropy_backward(cache)
            assert_same(dlogits, ((p - t) / 4).astype(kind), "dlogits", tolerance)


@pytest.mark.hint(
    "take each row's own maximum off first, then log-sum-exp less the target's logit: no log of p",
    finite="an exp has overflowed, or a probability has become 0 and its log infinite",
    dtype="make the targets in the dtype of the logits",
    dlogits="(p - t) / B: are its sign and its 1/B right?",
)
@pytest.mark.parametrize("dtype", ["float64", "float32"])
def test_large_logits_do_not_overflow(impl, dtype):
    logits = np.array([[1000.0, 0.0, 0.0], [-1000.0, -2000.0, -2000.0]], dtype)
    loss, cache = called(impl, logits, np.array([1, 0]))
    assert_same(loss, np.asarray(500.0, dtype), "the loss")
    expected = np.array([[0.5, -0.5, 0.0], [0.0, 0.0, 0.0]], dtype)
    assert_same(impl.cross_entropy_backward(cache), expected, "dlogits")


@pytest.mark.hint(
    "the row's maximum comes off before anything is multiplied or added: float32 has 7 digits",
    dtype="make the targets in the dtype of the logits",
)
def test_a_large_number_common_to_a_row_does_not_matter_in_float32(impl):
    logits = np.array([[2.0, 1.0, 0.0], [-1.0, 3.0, 0.0]])
    expected, (p, t) = cross_entropy(logits, np.array([0, 2]), 0.1)
    moved = (logits + np.array([[4096.0], [-8192.0]])).astype(np.float32)  # exact in float32
    loss, cache = called(impl, moved, np.array([0, 2]), 0.1)
    assert_same(loss, np.float32(expected), "the loss", 1e-6)
    assert_same(impl.cross_entropy_backward(cache), ((p - t) / 2).astype(np.float32), "dlogits", 1e-6)


@pytest.mark.hint("the labels may be of any integer type, and the batch may have one row")
@pytest.mark.parametrize("dtype", ["uint8", "int32", "int64"])
def test_labels_of_any_integer_type(impl, dtype):
    logits = np.random.default_rng(9).normal(size=(1, 300)).astype(np.float32)
    loss, _ = called(impl, logits, np.array([201], dtype))
    expected, _ = cross_entropy(logits.astype(float), np.array([201]))
    assert_same(loss, np.float32(expected), "the loss", 1e-6)


@pytest.mark.hint(
    "make new arrays: z = logits - max, not logits -= max; (1 - s) * t, not t *= 1 - s",
    dtype="make the targets in the dtype of the logits",
)
@pytest.mark.parametrize("dtype", ["float64", "float32"])
@pytest.mark.parametrize("kind", ["labels", "soft targets"])
def test_the_arrays_given_stay_as_they_are(impl, kind, dtype):
    logits, targets = case(kind, 6)
    logits = logits.astype(dtype)
    targets = targets if kind == "labels" else targets.astype(dtype)
    before = [logits.copy(), targets.copy()]
    loss, cache = called(impl, logits, targets, 0.1)
    dlogits = impl.cross_entropy_backward(cache)
    assert_untouched(before, [logits, targets], ["logits", "targets"])
    expected, (p, t) = cross_entropy(logits, targets, 0.1)
    assert_same(loss, np.asarray(expected), "the loss", 1e-5)
    assert_same(dlogits, (p - t) / np.asarray(4, dtype), "dlogits", 1e-5)


@pytest.mark.hint(
    "read the derivation of (cross entropy 4) again: at which step is something assumed of the targets?",
    name="compare the three backwards line by line: two agree for all targets",
    inputs="which targets did nobody think of? Keep the numbers of ordinary size",
)
def test_the_guilty_way_back_is_exposed(impl):
    assert_exposed(impl.guilty_cross_entropy(), SUSPECTS)


def in_one_buffer(scores, widths):
    """The columns of scores (B, N) in pieces of these widths, each written over the one before."""
    memory = np.empty(scores.shape[0] * max(widths), scores.dtype)
    at = 0
    for width in widths:
        piece = memory[: scores.shape[0] * width].reshape(scores.shape[0], width)
        piece[:] = scores[:, at : at + width]
        kept = piece.copy()
        yield piece
        assert_untouched([kept], [piece], ["a piece"])
        at += width


@pytest.mark.puzzle
@pytest.mark.hint(
    "a later piece can have a larger maximum. What becomes of the sum that you have so far?",
    finite="an exp has overflowed, or all of them have vanished: what has to come off first?",
    shape="one number for each row",
)
@pytest.mark.parametrize("dtype, tolerance", [("float64", 1e-12), ("float32", 1e-6)])
@pytest.mark.parametrize("slope", [0.0, 300.0, -300.0])
def test_log_sum_exp_in_pieces(impl, slope, dtype, tolerance):
    rng = np.random.default_rng(10)
    widths = [4, 1, 5, 2]
    scores = rng.normal(0, 3, (3, 12)) + slope * np.arange(12) + np.array([[0.0], [900.0], [-5000.0]])
    scores = scores.astype(dtype)
    exact = scores.astype(np.float64)
    highest = exact.max(axis=1, keepdims=True)
    expected = (highest[:, 0] + np.log(np.exp(exact - highest).sum(axis=1))).astype(dtype)
    assert_same(impl.log_sum_exp_in_pieces(in_one_buffer(scores, widths)), expected, "the result", tolerance)


@pytest.mark.puzzle
@pytest.mark.hint("one row, one piece: this is (cross entropy 3) without its second term")
def test_log_sum_exp_of_a_single_piece(impl):
    whole = impl.log_sum_exp_in_pieces(iter([np.log(np.array([[1.0, 2.0, 3.0, 2.0]]))]))
    assert_same(whole, np.log(np.array([8.0])), "the result")
