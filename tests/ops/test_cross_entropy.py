import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.helpers import seeds
from tinyvit.ops import cross_entropy, cross_entropy_backward

batches = st.integers(1, 6)
classes = st.integers(1, 7)
smoothings = st.sampled_from([0.0, 0.1, 0.5])


def loss_naively(logits, targets, smoothing):
    """Minus the sum of target times log probability, image by image."""
    total, C = 0.0, logits.shape[1]
    for row, target in zip(logits, targets, strict=True):
        exps = [math.exp(z) for z in row]
        for c in range(C):
            t = (1 - smoothing) * target[c] + smoothing / C
            total -= t * math.log(exps[c] / sum(exps))
    return total / len(logits)


@settings(max_examples=40)
@given(B=batches, C=classes, smoothing=smoothings, seed=seeds())
def test_the_loss_of_soft_targets_equals_the_naive_sum(B, C, smoothing, seed):
    rng = np.random.default_rng(seed)
    logits, targets = 2 * rng.standard_normal((B, C)), rng.dirichlet(np.ones(C), B)
    loss, _ = cross_entropy(logits, targets, smoothing)
    assert loss.shape == ()
    assert math.isclose(loss, loss_naively(logits, targets, smoothing), rel_tol=1e-12, abs_tol=1e-12)


@settings(max_examples=40)
@given(B=batches, C=classes, smoothing=smoothings, seed=seeds(), dtype=st.sampled_from(["uint8", "int64"]))
def test_a_label_means_one_at_its_class_and_zero_elsewhere(B, C, smoothing, seed, dtype):
    rng = np.random.default_rng(seed)
    logits, labels = 2 * rng.standard_normal((B, C)), rng.integers(0, C, B).astype(dtype)
    loss, cache = cross_entropy(logits, labels, smoothing)
    expected = loss_naively(logits, [[float(c == label) for c in range(C)] for label in labels], smoothing)
    assert math.isclose(loss, expected, rel_tol=1e-12, abs_tol=1e-12)
    np.testing.assert_allclose(cross_entropy_backward(cache).sum(axis=1), 0, atol=1e-15)


def test_there_is_no_smoothing_by_default():
    logits, labels = np.array([[1.0, 2.0, 0.5]]), np.array([2])
    assert cross_entropy(logits, labels)[0] == cross_entropy(logits, labels, 0.0)[0]
    assert cross_entropy(logits, labels)[0] != cross_entropy(logits, labels, 0.1)[0]


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_huge_logits_give_a_finite_loss_and_gradient(dtype):
    logits = np.array([[1e4, -1e4, 0], [-3e4, 2e4, 1e4]], dtype)
    with np.errstate(over="raise", divide="raise", invalid="raise"):
        loss, cache = cross_entropy(logits, np.array([1, 1]))
        dlogits = cross_entropy_backward(cache)
    assert loss == 1e4  # the first image is wrong by 2e4 nats, the second is right
    np.testing.assert_array_equal(dlogits, [[0.5, -0.5, 0], [0, 0, 0]])


def test_targets_in_float64_do_not_turn_float32_logits_into_float64():
    loss, cache = cross_entropy(np.ones((2, 3), "float32"), np.full((2, 3), 1 / 3), 0.1)
    assert loss.dtype == cross_entropy_backward(cache).dtype == np.float32


@pytest.mark.parametrize("labels, found", [([0, 3], "0 to 3"), ([-1, 2], "-1 to 2")])
def test_labels_that_no_class_has_are_refused(labels, found):
    with pytest.raises(ValueError, match=f"labels range from {found}, expected 0 to 2"):
        cross_entropy(np.zeros((2, 3)), np.array(labels))


def test_labels_that_are_not_whole_numbers_are_refused():
    with pytest.raises(ValueError, match="labels are float64, expected whole numbers"):
        cross_entropy(np.zeros((2, 3)), np.array([0.0, 1.0]))


@pytest.mark.parametrize("rows, shape", [(2, (3,)), (2, (2, 4)), (2, (2, 3, 1)), (0, (0,))])
def test_targets_that_do_not_match_the_logits_are_refused(rows, shape):
    with pytest.raises(ValueError, match=rf"targets have shape \({shape[0]},.*, expected \({rows},\) or"):
        cross_entropy(np.zeros((rows, 3)), np.zeros(shape, dtype=int))


def test_smoothing_that_is_a_numpy_number_leaves_the_dtype():
    logits = np.zeros((2, 3), dtype="float32")
    loss, cache = cross_entropy(logits, np.array([0, 1]), np.float64(0.1))
    assert loss.dtype == cross_entropy_backward(cache).dtype == np.float32


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_a_class_that_cannot_be_costs_nothing_unless_it_is_wanted(dtype):
    logits = np.array([[0, -np.inf, 1]], dtype)
    for targets in (np.array([0]), np.array([[1, 0, 0]], dtype)):
        loss, cache = cross_entropy(logits, targets)
        assert loss == pytest.approx(np.log(1 + np.e), rel=1e-6)
        np.testing.assert_allclose(
            cross_entropy_backward(cache), [[-np.e / (1 + np.e), 0, np.e / (1 + np.e)]], rtol=1e-6
        )
    assert cross_entropy(logits, np.array([1]))[0] == np.inf
    assert cross_entropy(logits, np.array([0]), smoothing=0.1)[0] == np.inf


def test_logits_of_the_size_of_the_largest_number_have_a_loss():
    largest = np.finfo(np.float32).max
    with np.errstate(over="ignore"):
        assert cross_entropy(np.array([[largest, -largest]], np.float32), np.array([0]))[0] == 0
        assert cross_entropy(np.array([[largest, -largest]], np.float32), np.array([1]))[0] == np.inf
