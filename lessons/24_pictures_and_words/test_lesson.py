"""Checks of lesson 24."""

import numpy as np
import pytest

from lessons.referee import Fault, assert_gradients, assert_operation, assert_same, assert_untouched
from lessons.referee.gradients import several
from tinyvit.ops import cross_entropy


def rows_of_length_one(x):
    """The forward of the text: unit vectors, and the cache (y, lengths)."""
    length = np.sqrt((x * x).sum(axis=-1, keepdims=True))
    return x / length, (x / length, length)


def vectors(B, E, seed=0):
    """Unit vectors of B images and as many texts, (B, E) each."""
    rng = np.random.default_rng(seed)
    return tuple(rows_of_length_one(rng.normal(0.3, 1, (B, E)))[0] for _ in range(2))


def towers(B, E, seed=0, bias=False):
    """The inputs of a loss, by name, with the numbers as arrays without axes."""
    images, texts = vectors(B, E, seed)
    found = {"images": images, "texts": texts, "log_scale": np.array(0.7)}
    return found | ({"bias": np.array(-0.9)} if bias else {})


def pairs_by_loop(images, texts, log_scale):
    """CLIP's loss, one image and one text at a time."""
    S = np.exp(log_scale) * images @ texts.T
    terms = []
    for i in range(len(S)):
        terms += [np.log(np.exp(S[i]).sum()) - S[i, i], np.log(np.exp(S[:, i]).sum()) - S[i, i]]
    return np.mean(terms)


def questions_by_loop(images, texts, log_scale, bias, same):
    """SigLIP's loss, one pair at a time."""
    S = np.exp(log_scale) * images @ texts.T + bias
    sigma = 1 / (1 + np.exp(-S))
    return -sum(np.log(sigma[i, j] if same[i, j] else 1 - sigma[i, j]) for i, j in np.ndindex(S.shape)) / len(
        S
    )


CLIP = ("dimages", "dtexts", "dlog_scale")
SIGLIP = (*CLIP, "dbias")


def of(function, names, *arguments):
    """The loss that a learner's function returns, and its gradients, one for each name."""
    loss, gradients = several(function, ("loss", "gradients"), *arguments)
    if not isinstance(gradients, tuple | list) or len(gradients) != len(names):
        raise Fault(
            f"{function.__name__} does not return {len(names)} gradients: {', '.join(names)}", kind="count"
        )
    if type(loss) is float:  # it has no dtype: any is right
        loss = arguments[0].dtype.type(loss)
    return loss, gradients


def softmax_pairs(impl, *arguments):
    """The learner's loss and gradients."""
    return of(impl.softmax_pairs, CLIP, *arguments)


def sigmoid_pairs(impl, *arguments):
    """The learner's loss and gradients."""
    return of(impl.sigmoid_pairs, SIGLIP, *arguments)


def times(dloss, gradients):
    """The backward of a loss that has returned its own gradients."""
    return tuple(gradient * dloss for gradient in gradients)


SIZES = {"three pairs": (3, 4), "five pairs": (5, 2), "two pairs": (2, 7)}


@pytest.mark.hint("y = (0.6, 0.8) and dy = (1, 0): along y lies 0.6 of dy; what is left is divided by 5")
def test_direction_backward_by_hand(impl):
    _, cache = rows_of_length_one(np.array([[3.0, 4.0]]))
    dx = impl.direction_backward(np.array([[1.0, 0.0]]), cache)
    assert_same(dx, np.array([[0.128, -0.096]]), "dx of (3, 4)")


@pytest.mark.hint(
    "y does not change when x grows longer, so dx is at a right angle to y: take the part along y off dy",
    shape="the product of each row of dy with its own y is one number a row: keepdims=True",
)
@pytest.mark.parametrize("shape", [(4, 3), (2, 6), (1, 5)], ids=str)
def test_the_gradient_of_unit_vectors(impl, shape):
    x = 2 * np.random.default_rng(1).normal(size=shape)
    assert_operation(rows_of_length_one, impl.direction_backward, {"": {"x": x}})


@pytest.mark.hint(
    "the scale is 1, and so are the scores of right pairs; all others are 0: every choice is alike"
)
def test_the_softmax_loss_by_hand(impl):
    vectors = np.eye(3, 5)
    loss, _ = softmax_pairs(impl, vectors, vectors.copy(), np.array(0.0))
    assert_same(loss, np.log(1 + 2 * np.exp(-1)), "the loss of three pairs")


@pytest.mark.hint(
    "the mean cross-entropy over the rows of S and that over its columns, and of the two the mean",
    crash="tinyvit.ops.cross_entropy takes the scores and the right columns, np.arange(B)",
)
@pytest.mark.parametrize("size", SIZES.values(), ids=SIZES)
def test_the_softmax_loss(impl, size):
    inputs = towers(*size, seed=2)
    loss, _ = softmax_pairs(impl, *inputs.values())
    assert_same(loss, pairs_by_loop(**inputs), "the loss", of=pairs_by_loop, inputs=inputs)


@pytest.mark.hint(
    "find dS first, and then go through S = exp(log_scale) images texts^T as through any product",
    dimages="image i is in all of row i of S, each time with a text and the scale",
    dtexts="text j is in all of column j of S: which axis of dS is summed?",
    dlog_scale="what is the derivative of exp(s) times a cosine by s?",
    dtype="an array of ones, zeros or np.eye is float64 unless it is given a dtype",
)
@pytest.mark.parametrize("size", SIZES.values(), ids=SIZES)
def test_the_gradients_of_the_softmax_loss(impl, size):
    forward = lambda *inputs: softmax_pairs(impl, *inputs)
    assert_operation(forward, times, {"": towers(*size, seed=3)})


@pytest.mark.hint("subtract the largest score of each row first, as in lesson 1, or use tinyvit.ops")
def test_large_scales_of_the_softmax(impl):
    images, texts = vectors(4, 3, seed=4)
    S = 2000 * images @ texts.T
    right = np.arange(4)
    expected = (cross_entropy(S, right)[0] + cross_entropy(S.T, right)[0]) / 2
    loss, gradients = softmax_pairs(impl, images, texts, np.log(2000.0))
    assert_same(loss, expected, "the loss with a scale of 2,000")
    for name, gradient in zip(CLIP, gradients, strict=True):
        assert_same(np.isfinite(gradient).all(), True, f"{name} being finite")


@pytest.mark.hint(
    "the scores are 1 and 0: log(1 + 1/e) for each right pair, log 2 for each of the two wrong ones"
)
def test_the_sigmoid_loss_by_hand(impl):
    vectors, right = np.eye(3, 5), np.eye(3, dtype=bool)
    loss, _ = sigmoid_pairs(impl, vectors, vectors.copy(), np.array(0.0), np.array(0.0), right)
    assert_same(loss, np.log(1 + np.exp(-1)) + 2 * np.log(2), "the loss of three pairs")


def twins(B):
    """The right text for each image, where texts 0 and the last are equal."""
    same = np.eye(B, dtype=bool)
    same[0, -1] = same[-1, 0] = True
    return same


def one_way(B):
    """The right text for each image, where the last image also shows what text 0 says."""
    same = np.eye(B, dtype=bool)
    same[-1, 0] = True
    return same


@pytest.mark.hint(
    "minus log of sigmoid(S) where same is True, and of 1 - sigmoid(S) elsewhere; the sum, divided by B"
)
@pytest.mark.parametrize(
    "same",
    [np.eye, twins, one_way],
    ids=["all texts differ", "two texts are equal", "one text fits two images"],
)
@pytest.mark.parametrize("size", SIZES.values(), ids=SIZES)
def test_the_sigmoid_loss(impl, size, same):
    inputs, same = towers(*size, seed=5, bias=True), same(size[0]).astype(bool)
    right = lambda *values: questions_by_loop(*values, same)
    loss, _ = sigmoid_pairs(impl, *inputs.values(), same)
    assert_same(loss, right(*inputs.values()), "the loss", of=right, inputs=inputs)


@pytest.mark.hint(
    "the gradient of a score is what was predicted minus what was right, as in lesson 1, over B",
    dlog_scale="the bias is added after the scale: it has no part in this gradient",
    dbias="the bias is in every score: what the forward copies, the backward adds up",
    dtexts="text j is in all of column j of S: which axis of dS is summed?",
    dtype="True and False minus a float32 is a float32; an array of ones or np.eye is float64",
)
@pytest.mark.parametrize("size", SIZES.values(), ids=SIZES)
def test_the_gradients_of_the_sigmoid_loss(impl, size):
    same = twins(size[0])
    forward = lambda *inputs: sigmoid_pairs(impl, *inputs, same)
    assert_operation(forward, times, {"": towers(*size, seed=6, bias=True)})


@pytest.mark.hint("np.logaddexp(0, z) is log(1 + exp(z)) that does not overflow, and tanh never does")
def test_large_scales_of_the_sigmoid(impl):
    images, texts = vectors(4, 3, seed=7)
    S = 2000 * images @ texts.T - 10
    expected = np.where(twins(4), np.maximum(-S, 0), np.maximum(S, 0)).sum() / 4
    loss, gradients = sigmoid_pairs(impl, images, texts, np.log(2000.0), np.array(-10.0), twins(4))
    assert_same(loss, expected, "the loss with a scale of 2,000", 1e-6)
    for name, gradient in zip(SIGLIP, gradients, strict=True):
        assert_same(np.isfinite(gradient).all(), True, f"{name} being finite")


@pytest.mark.hint("make new arrays: what you were given belongs to the towers")
def test_the_arrays_given_are_left_as_they_are(impl):
    images, texts = vectors(3, 4, seed=8)
    same = twins(3)
    before = [images.copy(), texts.copy(), same.copy()]
    softmax_pairs(impl, images, texts, np.array(0.5))
    sigmoid_pairs(impl, images, texts, np.array(0.5), np.array(-1.0), same)
    assert_untouched(before, [images, texts, same], ["images", "texts", "same"])


def whole(impl):
    """From two raw vectors to the loss, and all the way back: the losses behind the unit vectors."""

    def forward(x, y, log_scale):
        images, image_cache = rows_of_length_one(x)
        texts, text_cache = rows_of_length_one(y)
        loss, gradients = softmax_pairs(impl, images, texts, log_scale)
        return loss, (gradients, image_cache, text_cache)

    def backward(dloss, cache):
        (dimages, dtexts, dlog_scale), image_cache, text_cache = cache
        dx = impl.direction_backward(dimages * dloss, image_cache)
        return dx, impl.direction_backward(dtexts * dloss, text_cache), dlog_scale * dloss

    return forward, backward


@pytest.mark.hint("each part has a check of its own above: does that pass?")
def test_from_the_towers_to_the_loss_and_back(impl):
    rng = np.random.default_rng(9)
    inputs = {"x": rng.normal(size=(4, 3)), "y": rng.normal(size=(4, 3)), "log_scale": np.array(0.4)}
    assert_gradients(*whole(impl), inputs)


@pytest.mark.puzzle
@pytest.mark.hint("where no caption comes twice, every choice can be certain. And of two twins?")
def test_lowest_loss_by_hand(impl):
    assert_same(impl.lowest_loss(["a", "b", "c"]), 0.0, "the lowest loss of three different captions")
    assert_same(impl.lowest_loss(["a", "b", "a", "c"]), np.log(2) / 2, "the lowest loss of a, b, a, c")


@pytest.mark.puzzle
@pytest.mark.hint("all equal: nothing is better than an even share for each, and that costs log B")
def test_lowest_loss_of_many(impl):
    assert_same(impl.lowest_loss(["a"] * 5), np.log(5), "the lowest loss of five equal captions")
    captions = ["a"] * 4 + ["b"] * 2 + ["c"] * 3 + ["d"]
    expected = (4 * np.log(4) + 2 * np.log(2) + 3 * np.log(3)) / 10
    assert_same(impl.lowest_loss(captions), expected, "the lowest loss of 4, 2, 3 and 1")


@pytest.mark.puzzle
@pytest.mark.hint("no towers are better: these have equal vectors for equal captions, and a large scale")
def test_towers_that_reach_the_lowest_loss(impl):
    captions = np.array(["a", "b", "a", "c", "b", "a"])
    vectors = np.eye(3)[np.unique(captions, return_inverse=True)[1]]
    loss = pairs_by_loop(vectors, vectors, np.log(100.0))
    assert_same(impl.lowest_loss(list(captions)), loss, "the lowest loss of a, b, a, c, b, a")
