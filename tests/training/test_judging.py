"""Figures of a classifier: by hand, against scikit-learn and SciPy where they are installed, and as words."""

from itertools import pairwise

import numpy as np
import pytest

from tinyvit.training.evaluation import (
    by_class,
    calibration_error,
    confusion_counts,
    macro_mean,
    reliability,
    top_k_accuracy,
    wilson_interval,
    with_interval,
)

SEEDS = range(20)


def guesses(seed):
    """Probabilities (n, C), coarse enough for ties, and labels (n,), which leave out some classes."""
    rng = np.random.default_rng(seed)
    n, C = rng.integers(1, 60), rng.integers(2, 9)
    p = rng.integers(0, 4, (n, C)) + 1e-3
    p /= p.sum(axis=1, keepdims=True)
    labels = rng.choice(rng.permutation(C)[: rng.integers(1, C + 1)], n)
    return p, labels


# Top k.


def test_top_k_by_hand_and_the_first_of_a_tie_comes_first():
    p = np.array([[0.5, 0.3, 0.2], [0.5, 0.3, 0.2], [0.2, 0.4, 0.4], [0.2, 0.4, 0.4]])
    labels = np.array([1, 2, 1, 2])
    assert [top_k_accuracy(p, labels, k) for k in (1, 2, 3)] == [0.25, 0.75, 1]


@pytest.mark.parametrize("seed", SEEDS)
def test_top_1_is_the_accuracy(seed):
    p, labels = guesses(seed)
    assert top_k_accuracy(p, labels, 1) == (p.argmax(axis=1) == labels).mean()


def test_an_answer_that_is_not_a_number_is_not_among_the_likeliest():
    p = np.array([[0.9, 0.1], [np.nan, np.nan]])
    assert top_k_accuracy(p.astype(np.float32), np.array([0, 1]), 1) == 0.5


@pytest.mark.parametrize("seed", SEEDS)
def test_top_k_is_that_of_scikit_learn(seed):
    metrics = pytest.importorskip("sklearn.metrics")
    p, labels = guesses(seed)
    C = p.shape[1]
    if C == 2:  # for which it expects other arguments
        return
    for k in range(1, C):  # of equal scores it takes the last first, so the classes are turned around
        theirs = metrics.top_k_accuracy_score(C - 1 - labels, p[:, ::-1], k=k, labels=range(C))
        assert top_k_accuracy(p, labels, k) == pytest.approx(theirs)


# Precision, recall, F1.


def test_precision_recall_and_f1_by_hand():
    counts = np.array([[3, 1, 0, 0], [2, 4, 0, 0], [1, 1, 0, 0], [0, 0, 0, 0]])
    found = by_class(counts)
    np.testing.assert_allclose(found.recall, [3 / 4, 4 / 6, 0, np.nan])
    np.testing.assert_allclose(found.precision, [3 / 6, 4 / 6, np.nan, np.nan])
    np.testing.assert_allclose(found.f1, [6 / 10, 8 / 12, 0, np.nan])
    mean = {"precision": (3 / 6 + 4 / 6) / 3, "recall": (3 / 4 + 4 / 6) / 3, "f1": (6 / 10 + 8 / 12) / 3}
    assert macro_mean(counts) == pytest.approx(mean)
    assert repr(found).splitlines()[:2] == [
        "class  precision  recall     F1",
        "    0      50.0%   75.0%  60.0%",
    ]
    assert repr(found).splitlines()[-1] == "    3          -       -      -"


def test_a_class_that_is_named_but_has_no_images_has_precision_0_and_is_not_in_the_mean():
    counts = np.array([[3, 1], [0, 0]])
    assert by_class(counts).precision.tolist() == [1, 0]
    assert macro_mean(counts) == pytest.approx({"precision": 1, "recall": 3 / 4, "f1": 6 / 7})


@pytest.mark.parametrize("seed", SEEDS)
def test_they_are_those_of_scikit_learn(seed):
    metrics = pytest.importorskip("sklearn.metrics")
    p, labels = guesses(seed)
    said, C = p.argmax(axis=1), p.shape[1]
    counts, scores = confusion_counts(labels, said, C), metrics.precision_recall_fscore_support
    theirs = scores(labels, said, labels=range(C), zero_division=np.nan)[:3]
    for ours, other in zip(by_class(counts), theirs, strict=True):
        np.testing.assert_allclose(ours, other)
    means = scores(labels, said, labels=np.unique(labels), average="macro", zero_division=0)[:3]
    assert list(macro_mean(counts).values()) == pytest.approx(means)


# Calibration.


def test_calibration_by_hand():
    """Two bins: an image of confidence 0.5, their border, in the lower one, and three in the other."""
    p = np.array([[0.5, 0.5], [0.75, 0.25], [0.125, 0.875], [1, 0]])
    table = reliability(p, np.array([1, 0, 0, 0]), bins=2)
    assert table.images.tolist() == [1, 3]
    np.testing.assert_allclose(table.accuracy, [0, 2 / 3])
    np.testing.assert_allclose(table.confidence, [0.5, 0.875])
    assert calibration_error(table) == pytest.approx(1 / 4 * 0.5 + 3 / 4 * (0.875 - 2 / 3))


def test_bins_without_images_count_for_nothing():
    table = reliability(np.array([[1, 0], [0, 1]], np.float32), np.array([0, 1]))
    assert table.images.tolist() == [0] * 14 + [2]
    assert np.isnan(table.accuracy[:-1]).all() and np.isnan(table.confidence[:-1]).all()
    assert calibration_error(table) == 0


@pytest.mark.parametrize("seed", SEEDS)
def test_calibration_is_that_of_a_loop_over_the_bins(seed):
    p, labels = guesses(seed)
    confidence, right = p.max(axis=1), p.argmax(axis=1) == labels
    edges, error = np.linspace(0, 1, 16), 0.0
    for low, high in pairwise(edges):
        inside = (confidence > low) & (confidence <= high)
        if inside.any():
            error += inside.mean() * abs(right[inside].mean() - confidence[inside].mean())
    assert calibration_error(reliability(p, labels)) == pytest.approx(error)


@pytest.mark.parametrize("seed", SEEDS)
def test_the_table_is_that_of_scikit_learn(seed):
    calibration = pytest.importorskip("sklearn.calibration")
    p, labels = guesses(seed)
    table = reliability(p, labels)
    right = (p.argmax(axis=1) == labels).astype(int)
    accuracy, confidence = calibration.calibration_curve(right, p.max(axis=1), n_bins=15)
    np.testing.assert_allclose(table.accuracy[table.images > 0], accuracy)
    np.testing.assert_allclose(table.confidence[table.images > 0], confidence)


# The interval.


@pytest.mark.parametrize(("hits", "images"), [(0, 1), (1, 1), (7, 10), (712, 1000), (0, 50), (9420, 10_000)])
def test_both_ends_of_the_interval_are_as_far_off_as_95_percent_allow(hits, images):
    for end in wilson_interval(hits / images, images):
        off = abs(hits / images - end)
        assert off == pytest.approx(1.959964 * np.sqrt(end * (1 - end) / images), rel=1e-5, abs=1e-9)


def test_an_interval_by_hand():
    """Half of four images and z = 2: (1/2 + 1/2 -+ 2 sqrt(1/16 + 1/16)) / 2."""
    low, high = wilson_interval(0.5, 4, level=0.954499736103642)
    assert (low, high) == pytest.approx((0.5 - np.sqrt(1 / 8), 0.5 + np.sqrt(1 / 8)))


@pytest.mark.parametrize("seed", SEEDS)
def test_the_interval_is_that_of_scipy(seed):
    stats = pytest.importorskip("scipy.stats")
    rng = np.random.default_rng(seed)
    n = int(rng.integers(1, 500))
    hits, level = int(rng.integers(0, n + 1)), rng.uniform(0.5, 0.99)
    theirs = stats.binomtest(hits, n).proportion_ci(level, method="wilson")
    assert wilson_interval(hits / n, n, level) == pytest.approx(tuple(theirs), abs=1e-12)


def test_an_accuracy_in_words_has_its_interval_unless_there_are_many_images():
    assert with_interval(0.712, 1000) == "71.2% (95% interval 68.3 to 73.9)"
    assert with_interval(0.712, 9_999, 2) == "71.20% (95% interval 70.30 to 72.08)"
    assert with_interval(0.712, 10_000) == "71.2%"
    assert with_interval(1.0, 3) == "100.0% (95% interval 43.9 to 100.0)"
