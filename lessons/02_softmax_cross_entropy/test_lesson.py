"""Checks of lesson 2."""

import numpy as np
import pytest

from lessons.referee import assert_gradients, assert_same, assert_untouched
from tinyvit.ops import cross_entropy, cross_entropy_backward, softmax, softmax_backward

HALF = np.log(np.array([[0.5, 0.25, 0.25]]))  # logits whose softmax is known


def case(kind, seed=0):
    """Logits (4, 5), and labels or rows of probabilities for them."""
    rng = np.random.default_rng(seed)
    logits = rng.normal(0, 2, (4, 5))
    targets = rng.integers(0, 5, 4) if kind == "labels" else rng.dirichlet(np.ones(5), 4)
    return logits, targets


def assert_loss_gradient(impl, logits, targets, smoothing=0.0):
    """cross_entropy_backward against a small push of every logit."""
    assert_gradients(
        lambda z: impl.cross_entropy(z, targets, smoothing),
        lambda dloss, cache: np.asarray(impl.cross_entropy_backward(cache)) * dloss,
        {"logits": logits},
    )


@pytest.mark.hint("y * (dy - the sum of dy * y along the row): here that sum is 0.5")
def test_softmax_backward_by_hand(impl):
    y = np.array([[0.5, 0.25, 0.25]])
    dx = impl.softmax_backward(np.array([[1.0, 0.0, 0.0]]), y)
    assert_same(dx, np.array([[0.25, -0.125, -0.125]]), "dx")


@pytest.mark.hint(
    "every x_i of a row moves every y_j of it; the sum runs over the last axis, with keepdims=True"
)
def test_softmax_backward(impl):
    x = np.random.default_rng(1).normal(size=(2, 3, 4))
    assert_gradients(softmax, impl.softmax_backward, {"x": x})


@pytest.mark.hint(
    "softmax does not see a constant added to a row, so its gradient adds up to 0 along each row"
)
def test_the_gradient_of_softmax_adds_up_to_0_along_each_row(impl):
    rng = np.random.default_rng(2)
    y, cache = softmax(rng.normal(size=(3, 6)))
    dx = impl.softmax_backward(rng.normal(size=y.shape), cache)
    assert_same(dx.sum(axis=-1), np.zeros(3), "the sum of dx along each row", 1e-12)


@pytest.mark.hint("with p = 0.5 for the right class the loss is -log 0.5; the batch takes the mean")
def test_the_loss_by_hand(impl):
    logits, labels = np.concatenate([HALF, HALF]), np.array([0, 1])
    loss, _ = impl.cross_entropy(logits, labels)
    assert_same(loss, (np.log(2) + np.log(4)) / 2, "the loss")


@pytest.mark.hint(
    "targets of shape (B, C) are used as they are: -sum over c of t log p, then the mean over the rows"
)
def test_soft_targets(impl):
    loss, _ = impl.cross_entropy(HALF, np.array([[0.5, 0.5, 0.0]]))
    assert_same(loss, 1.5 * np.log(2), "the loss")


@pytest.mark.hint("smoothing replaces t by (1 - s) t + s / C, for labels and for soft targets alike")
def test_label_smoothing(impl):
    loss, _ = impl.cross_entropy(HALF, np.array([0]), 0.3)  # t = 0.8, 0.1, 0.1
    assert_same(loss, 0.8 * np.log(2) + 0.2 * np.log(4), "the loss of a label")
    loss, _ = impl.cross_entropy(HALF, np.array([[0.0, 0.5, 0.5]]), 0.3)  # t = 0.1, 0.45, 0.45
    assert_same(loss, 0.1 * np.log(2) + 0.9 * np.log(4), "the loss of soft targets")


@pytest.mark.hint(
    "take each row's own maximum off first, then log-sum-exp less the target's logit: no log of p"
)
def test_large_logits_do_not_overflow(impl):
    logits = np.array([[1000.0, 0.0, 0.0], [-1000.0, -2000.0, -2000.0]])
    loss, cache = impl.cross_entropy(logits, np.array([1, 0]))
    assert_same(loss, 500.0, "the loss")
    expected = np.array([[0.5, -0.5, 0.0], [0.0, 0.0, 0.0]])
    assert_same(impl.cross_entropy_backward(cache), expected, "dlogits")


@pytest.mark.hint(
    "dlogits = (p - t) / B: every row counts one B-th. Half or twice as large? Is logits still what it was?"
)
def test_backward_with_labels(impl):
    assert_loss_gradient(impl, *case("labels", 3))


@pytest.mark.hint("the cache must hold the targets that the loss was computed with, after smoothing")
@pytest.mark.parametrize("kind", ["labels", "soft targets"])
def test_backward_with_smoothing(impl, kind):
    assert_loss_gradient(impl, *case(kind, 4), 0.2)


@pytest.mark.hint(
    "p and t are both distributions: each row of p - t adds up to 0. Is t one, after smoothing?"
)
def test_the_gradient_of_the_loss_adds_up_to_0_along_each_row(impl):
    logits, labels = case("labels", 5)
    _, cache = impl.cross_entropy(logits, labels, 0.1)
    total = np.asarray(impl.cross_entropy_backward(cache)).sum(axis=1)
    assert_same(total, np.zeros(4), "the sum of dlogits along each row", 1e-12)


@pytest.mark.hint("make the targets in the dtype of the logits; z = logits - max, not logits -= max")
@pytest.mark.parametrize("kind", ["labels", "soft targets"])
def test_float32_stays_float32_and_inputs_stay_whole(impl, kind):
    logits, targets = case(kind, 6)
    logits = logits.astype(np.float32)
    before = [logits.copy(), targets.copy()]
    loss, cache = impl.cross_entropy(logits, targets, 0.1)
    dlogits = impl.cross_entropy_backward(cache)
    assert_untouched(before, [logits, targets])
    expected, expected_cache = cross_entropy(logits, targets, 0.1)
    assert_same(np.asarray(loss), expected, "the loss", 1e-5)
    assert_same(dlogits, cross_entropy_backward(expected_cache), "dlogits", 1e-5)


@pytest.mark.hint("work on a new array: dy * y, not dy *= y")
def test_softmax_backward_keeps_float32_and_its_inputs(impl):
    rng = np.random.default_rng(7)
    y, _ = softmax(rng.normal(size=(3, 4)).astype(np.float32))
    dy = rng.normal(size=(3, 4)).astype(np.float32)
    before = [dy.copy(), y.copy()]
    dx = impl.softmax_backward(dy, y)
    assert_untouched(before, [dy, y])
    assert_same(dx, softmax_backward(dy, y), "dx", 1e-5)
