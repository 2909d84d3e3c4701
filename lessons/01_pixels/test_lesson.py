"""Checks of lesson 1."""

import numpy as np
import pytest

from lessons.referee import assert_same, assert_untouched
from tinyvit.data.shapes import make_shapes


def rows(seed=0, n=8, width=5, classes=3):
    """A few rows that are not centred, with labels of which every class has some."""
    rng = np.random.default_rng(seed)
    return rng.normal(0.7, 1.0, (n, width)), rng.permutation(np.arange(n) % classes)


def answer(x, labels, penalty, classes=3):
    """The same weight and bias by the equations of D unknowns a class instead of n."""
    targets = np.eye(classes)[labels]
    centred = x - x.mean(axis=0)
    weight = np.linalg.solve(centred.T @ centred + penalty * np.eye(x.shape[1]), centred.T @ targets)
    return weight, targets.mean(axis=0) - x.mean(axis=0) @ weight


@pytest.mark.hint(
    "byte 0 becomes -1, byte 255 becomes 1. A byte is never negative: change the dtype, then subtract 127.5"
)
def test_bytes_become_numbers_from_minus_1_to_1(impl):
    images = np.array([0, 51, 102, 153, 204, 255], np.uint8).reshape(1, 1, 2, 3)
    expected = np.array([-1, -0.6, -0.2, 0.2, 0.6, 1.0]).reshape(1, 1, 2, 3)
    assert_same(impl.normalise(images, np.float64), expected, "the normalised image")


@pytest.mark.hint(
    "images.astype(dtype) makes an array of the dtype asked for; work on that one, not on images"
)
def test_normalise_gives_the_dtype_asked_for_and_leaves_the_bytes_alone(impl):
    images = np.random.default_rng(0).integers(0, 256, (2, 4, 4, 3), dtype=np.uint8)
    before = images.copy()
    x = impl.normalise(images, np.dtype("float32"))
    assert_untouched([before], [images])
    assert_same(x, (images.astype(np.float32) - 127.5) / np.float32(127.5), "the normalised image", 1e-6)


@pytest.mark.hint(
    "x.reshape(len(x), -1) makes one row of each image; a row times weight gives one score a class"
)
def test_scores_by_hand(impl):
    images = np.array([1.0, -1.0, 0.5, 0.0, 0.0, 2.0]).reshape(2, 1, 1, 3)
    weight = np.array([[0.5, 1.0], [-1.0, 0.0], [2.0, -1.0]])
    scores = impl.class_scores(images, weight, np.array([0.25, -0.25]))
    assert_same(scores, np.array([[2.75, 0.25], [4.25, -2.25]]), "the scores")


@pytest.mark.hint("the bias is added to the scores, one number a class, and is the same for every image")
def test_the_scores_of_a_negative_mirror_those_of_the_image_around_the_bias(impl):
    rng = np.random.default_rng(1)
    images, weight, bias = rng.normal(size=(4, 2, 3, 3)), rng.normal(size=(18, 5)), rng.normal(size=5)
    both = impl.class_scores(images, weight, bias) + impl.class_scores(-images, weight, bias)
    assert_same(both, np.tile(2 * bias, (4, 1)), "scores(image) + scores(negative)")


@pytest.mark.hint(
    "follow the worked example: targets less their mean are 0.5 and -0.5, the shares 0.1 and -0.1"
)
def test_the_worked_example(impl):
    weight, bias = impl.fit_linear(np.array([[1.0, -1.0], [-1.0, 1.0]]), np.array([0, 1]), 2, 1.0)
    assert_same(weight, np.array([[0.2, -0.2], [-0.2, 0.2]]), "weight")
    assert_same(bias, np.array([0.5, 0.5]), "bias")


@pytest.mark.hint(
    "centre x and the targets, every column by its own mean (axis=0); then eq. 7, 6, and 4 for the bias"
)
def test_the_least_squares_answer(impl):
    x, labels = rows()
    weight, bias = impl.fit_linear(x, labels, 3, 0.5)
    expected_weight, expected_bias = answer(x, labels, 0.5)
    assert_same(weight, expected_weight, "weight")
    assert_same(bias, expected_bias, "bias")


@pytest.mark.hint("solve with (n, n) products of images, eq. 7, and add the penalty to their diagonal")
def test_more_pixels_than_images(impl):
    x, labels = rows(2, n=6, width=20)
    weight, bias = impl.fit_linear(x, labels, 3, 0.01)
    expected_weight, expected_bias = answer(x, labels, 0.01)
    assert_same(weight, expected_weight, "weight")
    assert_same(bias, expected_bias, "bias")


@pytest.mark.hint("the one-hot targets and the identity must be in x.dtype: np.eye(n) alone is float64")
def test_float32_stays_float32_and_inputs_stay_whole(impl):
    x, labels = rows(3)
    x = x.astype(np.float32)
    before = [x.copy(), labels.copy()]
    weight, bias = impl.fit_linear(x, labels, 3, 0.5)
    assert_untouched(before, [x, labels])
    expected_weight, expected_bias = answer(x.astype(float), labels, 0.5)
    assert_same(weight, expected_weight.astype(np.float32), "weight", 1e-4)
    assert_same(bias, expected_bias.astype(np.float32), "bias", 1e-4)


@pytest.mark.hint("each function is right by itself? Then look at how class_scores makes rows of images")
def test_all_together_on_the_shapes(impl):
    data = make_shapes(train=300, test=200, seed=0)
    x, z = (impl.normalise(part.images[:, 8:24, 8:24], np.float64) for part in (data.train, data.test))
    weight, bias = impl.fit_linear(x.reshape(300, -1), data.train.labels, 10, 1.0)
    expected_weight, expected_bias = answer(x.reshape(300, -1), data.train.labels, 1.0, 10)
    expected = np.tensordot(z, expected_weight.reshape(16, 16, 3, 10), 3) + expected_bias
    assert_same(impl.class_scores(z, weight, bias), expected, "the scores of new images")
    learnt = (impl.class_scores(x, weight, bias).argmax(axis=1) == data.train.labels).mean()
    assert learnt > 0.99, f"accuracy on the training images is {learnt:.2f}, expected more than 0.99"
