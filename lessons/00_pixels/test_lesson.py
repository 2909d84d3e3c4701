"""Checks of lesson 0."""

import numpy as np
import pytest

from lessons.referee import assert_same, assert_untouched
from tinyvit.data.shapes import make_shapes

ROWS = "x.reshape(len(x), -1) makes one row of each image; a row times the weight gives one score a class"
ASKED_FOR = "the second argument is the dtype of the result"


def rows(seed=0, n=8, width=5, classes=3):
    """A few rows that are not centred, with labels of which every class has some, but not equally many."""
    rng = np.random.default_rng(seed)
    labels = np.concatenate([np.arange(classes), rng.integers(0, classes, n - classes)])
    return rng.normal(0.7, 1.0, (n, width)), rng.permutation(labels)


def templates(impl, x, labels, classes):
    """The result of mean_templates, after a check of its form, so that it can be multiplied with."""
    weight, bias = impl.mean_templates(x, labels, classes)
    for array, shape, name in ((weight, (x.shape[1], classes), "weight"), (bias, (classes,), "bias")):
        assert_same(np.zeros_like(array), np.zeros(shape, x.dtype), name)
    return weight, bias


def nearest(x, means):
    """For each row the number of the nearest mean, by the distances themselves."""
    return np.array([((means - row) ** 2).sum(axis=1).argmin() for row in x])


@pytest.mark.hint(
    "byte 0 becomes -1, byte 255 becomes 1. A byte is never negative: change the dtype first",
    dtype=ASKED_FOR,
)
def test_bytes_become_numbers_from_minus_1_to_1(impl):
    images = np.array([0, 51, 102, 153, 204, 255], np.uint8).reshape(1, 1, 2, 3)
    expected = np.array([-1, -0.6, -0.2, 0.2, 0.6, 1.0]).reshape(1, 1, 2, 3)
    assert_same(impl.normalise(images, np.float64), expected, "the normalised image")


@pytest.mark.hint(
    "the ends of the scale are those of a byte, 0 and 255, whatever the images at hand contain",
    dtype=ASKED_FOR,
)
def test_normalise_does_not_look_at_the_images(impl):
    images = np.random.default_rng(1).integers(90, 160, (3, 2, 5, 3), dtype=np.uint8)
    expected = images / 127.5 - 1
    assert_same(impl.normalise(images, np.float64), expected, "the normalised images", 1e-12)


@pytest.mark.hint(
    "images.astype(dtype) makes an array of the dtype asked for; work on that one, not on images",
    dtype=ASKED_FOR,
)
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_normalise_gives_the_dtype_asked_for_and_leaves_the_bytes_alone(impl, dtype):
    images = np.random.default_rng(0).integers(0, 256, (2, 4, 5, 3), dtype=np.uint8)
    before = images.copy()
    x = impl.normalise(images, np.dtype(dtype))
    assert_untouched([before], [images], ["images"])
    expected = ((images.astype(np.float64) - 127.5) / 127.5).astype(dtype)
    assert_same(x, expected, "the normalised image", 1e-6 if dtype == "float32" else 1e-12)


@pytest.mark.hint(ROWS)
def test_scores_by_hand(impl):
    images = np.array([1.0, -1.0, 0.5, 0.0, 0.0, 2.0]).reshape(2, 1, 1, 3)
    weight = np.array([[0.5, 1.0], [-1.0, 0.0], [2.0, -1.0]])
    scores = impl.class_scores(images, weight, np.array([0.25, -0.25]))
    assert_same(scores, np.array([[2.75, 0.25], [4.25, -2.25]]), "the scores")


@pytest.mark.hint("the numbers of an image are taken row of pixels by row, as reshape does", shape=ROWS)
def test_scores_of_images_that_are_not_square(impl):
    rng = np.random.default_rng(2)
    images, weight, bias = rng.normal(size=(4, 2, 5, 3)), rng.normal(size=(30, 7)), rng.normal(size=7)
    before = [images.copy(), weight.copy(), bias.copy()]
    expected = np.tensordot(images, weight.reshape(2, 5, 3, 7), 3) + bias
    assert_same(impl.class_scores(images, weight, bias), expected, "the scores")
    assert_untouched(before, [images, weight, bias], ["images", "weight", "bias"])
    single = [a.astype(np.float32) for a in (images, weight, bias)]
    assert_same(impl.class_scores(*single), expected.astype(np.float32), "the scores in float32", 1e-5)


@pytest.mark.hint("the bias is added to the scores, one number a class, and is the same for every image")
def test_the_scores_of_a_negative_mirror_those_of_the_image_around_the_bias(impl):
    rng = np.random.default_rng(1)
    images, weight, bias = rng.normal(size=(4, 2, 3, 3)), rng.normal(size=(18, 5)), rng.normal(size=5)
    both = impl.class_scores(images, weight, bias) + impl.class_scores(-images, weight, bias)
    assert_same(both, np.tile(2 * bias, (4, 1)), "scores(image) + scores(negative)")


@pytest.mark.hint(
    "follow the example by hand: the means are (1, -1) and (-2, 3)",
    weight="column c of the weight is the mean of the rows with label c",
    bias="the bias comes from the term of (3) without x: of (1, -1) it is -1, of (-2, 3) it is -6.5",
)
def test_the_templates_of_the_example(impl):
    x = np.array([[1.0, -1.0], [-3.0, 3.0], [-1.0, 3.0]])
    weight, bias = impl.mean_templates(x, np.array([0, 1, 1]), 2)
    assert_same(weight, np.array([[1.0, -2.0], [-1.0, 3.0]]), "weight")
    assert_same(bias, np.array([-1.0, -6.5]), "bias")


@pytest.mark.hint(
    "divide each class's sum by the number of its own rows",
    weight="divide each class's sum by the number of its own rows; the shape is (D, C)",
    bias="the bias comes from the term of (3) without x, with the factor that turns distance into score",
)
def test_the_means_of_classes_that_are_not_equally_frequent(impl):
    x, labels = rows()
    before = [x.copy(), labels.copy()]
    weight, bias = impl.mean_templates(x, labels, 3)
    assert_untouched(before, [x, labels], ["x", "labels"])
    means = np.array([x[np.flatnonzero(labels == c)].sum(axis=0) / (labels == c).sum() for c in range(3)])
    assert_same(weight, means.T, "weight")
    assert_same(bias, -0.5 * np.einsum("cd,cd->c", means, means), "bias")


@pytest.mark.hint(
    "work out |x - mean|^2 once more: which factor stands before x . mean, and which sign?",
    shape="the weight is (D, C), one column for each class, and the bias (C,)",
)
def test_the_highest_score_is_the_nearest_mean(impl):
    x, labels = rows(3, n=40, width=4, classes=6)
    weight, bias = templates(impl, x, labels, 6)
    new = np.random.default_rng(4).normal(1.0, 2.0, (200, 4))
    means = np.array([x[labels == c].mean(axis=0) for c in range(6)])
    chosen = (new @ weight + bias).argmax(axis=1)
    assert_same(chosen, nearest(new, means), "the class with the highest score")


@pytest.mark.hint(
    "the templates of the checks above, now in float32; the labels may be of any integer type",
    dtype="weight and bias have the dtype of x",
    shape="the weight is (D, C), one column for each class, and the bias (C,)",
)
@pytest.mark.parametrize("label_dtype", [np.int64, np.uint8])
def test_templates_in_float32(impl, label_dtype):
    x, labels = rows(5, n=11, width=7, classes=4)
    x = x.astype(np.float32)
    weight, bias = impl.mean_templates(x, labels.astype(label_dtype), 4)
    means = np.array([x[labels == c].astype(float).mean(axis=0) for c in range(4)])
    assert_same(weight, means.T.astype(np.float32), "weight", 1e-5)
    assert_same(bias, (-0.5 * (means * means).sum(axis=1)).astype(np.float32), "bias", 1e-5)


@pytest.mark.hint("each function is right by itself? Then compare how the images become rows before each")
def test_all_together_on_the_shapes(impl):
    data = make_shapes(train=300, test=200, seed=0)
    x, z = (impl.normalise(part.images[:, 8:24, 6:20], np.float64) for part in (data.train, data.test))
    scores = impl.class_scores(z, *templates(impl, x.reshape(300, -1), data.train.labels, 10))
    pixels, labels = data.train.images[:, 8:24, 6:20] / 127.5 - 1, data.train.labels
    means = np.array([pixels[labels == c].mean(axis=0).reshape(-1) for c in range(10)])
    expected = nearest((data.test.images[:, 8:24, 6:20] / 127.5 - 1).reshape(200, -1), means)
    assert_same(scores.argmax(axis=1), expected, "the classes of new images")


class Closed:
    """A linear classifier that answers, counts what it is shown, and keeps its weight to itself."""

    def __init__(self, seed, shape, classes):
        rng = np.random.default_rng(seed)
        self.__weight = rng.normal(size=(*shape, classes))
        self.__bias, self.shape, self.seen = rng.normal(3.0, 1.0, classes), shape, 0

    def __call__(self, images):
        assert np.shape(images)[1:] == self.shape, f"scores was shown shape {np.shape(images)}"
        self.seen += len(images)
        return np.tensordot(np.asarray(images, float), self.__weight, 3) + self.__bias

    def truth(self):
        return self.__weight.reshape(-1, len(self.__bias)), self.__bias


@pytest.mark.puzzle
@pytest.mark.hint("which image shows the bias alone? And which shows it together with one row of the weight?")
@pytest.mark.parametrize("shape, classes", [((2, 4, 3), 5), ((1, 1, 3), 2), ((5, 3, 3), 1)])
def test_the_templates_are_read_out(impl, shape, classes):
    closed = Closed(6, shape, classes)
    weight, bias = impl.read_templates(closed, shape)
    expected_weight, expected_bias = closed.truth()
    assert_same(bias, expected_bias, "bias")
    assert_same(weight, expected_weight, "weight")
    most = int(np.prod(shape)) + 1
    assert closed.seen <= most, f"scores was shown {closed.seen} images, expected at most {most}"
