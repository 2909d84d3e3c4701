"""Checks of lesson 25."""

import importlib

import numpy as np
import pytest

from lessons.referee import (
    assert_gradient,
    assert_operation,
    assert_same,
    assert_trust,
    assert_untouched,
)
from lessons.referee.gradients import named, outcome, several
from tinyvit.checking import numerical_gradient

SUSPECTS = importlib.import_module("lessons.25_masked_patches.suspects")
M = -1  # masked


@pytest.mark.hint(
    "which eighth of the range is each channel in? Red's eighth counts 64, green's 8, blue's 1",
    dtype="classes are whole numbers: int64, whatever the means are",
)
def test_classes_by_hand(impl):
    means = np.array([[187.0, 195.0, 236.0], [0.0, 0.0, 0.0], [255.0, 255.0, 255.0], [200.0, 100.0, 50.0]])
    assert_same(impl.colour_classes(means), np.array([375, 0, 511, 409]), "the classes of four colours")


@pytest.mark.hint("each eighth is 32 wide: 0 to 31.99..., 32 to 63.99..., and so on; do not round up")
def test_the_edges_of_the_eighths(impl):
    edges = 32.0 * np.arange(1, 8)
    for values, first, where in (
        (edges - 12, 0, "of 20, 52, ..., 212"),
        (np.nextafter(edges, 0), 0, "just below 32, 64, ..., 224"),
        (edges, 1, "of 32, 64, ..., 224"),
    ):
        means = np.zeros((7, 3))
        means[:, 2] = values
        assert_same(impl.colour_classes(means), np.arange(first, first + 7), f"the classes of blues {where}")


@pytest.mark.hint("work on the last axis, ..., and make int64 of the eighths before you multiply them")
@pytest.mark.parametrize("dtype", ["float64", "float32", "uint8"])
@pytest.mark.parametrize("shape", [(3,), (5, 3), (2, 4, 3), (3, 2, 5, 3)])
def test_classes_of_every_shape(impl, shape, dtype):
    means = np.random.default_rng(0).integers(0, 256, shape).astype(dtype)
    before = means.copy()
    expected = np.empty(shape[:-1], np.int64)
    for place in np.ndindex(shape[:-1]):
        r, g, b = (int(value) // 32 for value in means[place])
        expected[place] = int(f"{r}{g}{b}", 8)
    assert_same(np.asarray(impl.colour_classes(means)), expected, f"the classes of {dtype} means {shape}")
    assert_untouched([before], [means], ["means"])


X = np.array([[[1.0, 2.0], [3.0, 4.0], [5.0, 6.0], [7.0, 8.0]]])
TOKEN = np.array([-1.0, 9.0])
SOURCE = np.array([[0, M, 0, 3]])
DY = np.array([[[1.0, 0.0], [0.0, 2.0], [3.0, 3.0], [-1.0, 4.0]]])


@pytest.mark.hint("position t shows patch source[t]; -1 says that it shows the token")
def test_the_patches_of_the_text(impl):
    y, _ = outcome(impl.corrupt(X.copy(), TOKEN.copy(), SOURCE.copy()))
    expected = np.array([[[1.0, 2.0], [-1.0, 9.0], [1.0, 2.0], [7.0, 8.0]]])
    assert_same(y, expected, "y of the four patches")


@pytest.mark.hint(
    "follow each row of dy back to what was shown there",
    dx="patch 0 was shown twice, patch 2 nowhere",
    dmask_token="the token was shown in one position only",
)
def test_the_gradients_of_the_text(impl):
    _, cache = outcome(impl.corrupt(X.copy(), TOKEN.copy(), SOURCE.copy()))
    got = named(impl.corrupt_backward(DY.copy(), cache), {"x": X, "mask_token": TOKEN})
    expected = np.array([[[4.0, 3.0], [0.0, 0.0], [0.0, 0.0], [-1.0, 4.0]]])
    assert_same(got["x"], expected, "dx")
    assert_same(got["mask_token"], np.array([0.0, 2.0]), "dmask_token")


SOURCES = {
    "one patch shown three times": [[1, 1, 1, 3, 4], [0, 4, 2, 4, M]],
    "a circle of patches": [[1, 2, 3, 0], [0, 2, 3, 1], [3, 0, 1, 2]],
    "everything masked": [[M, M, M], [M, M, M]],
    "nothing masked": [[0, 1, 2, 3, 4, 5, 6]],
    "a masked patch shown elsewhere": [[3, 1, 2, M, 3, 5], [M, 0, M, 3, 1, 0]],
    "the last patch, never shown": [[0, 1, M, 0], [M, M, 2, 2], [0, 1, 2, 1]],
}


@pytest.mark.hint(
    "each image has a source of its own",
    dx="two positions that show one patch add up; dx[indices] += ... adds only once. And is -1 an index?",
    dmask_token="the sum over all masked positions of all images, of shape (D,): not a mean",
    dtype="np.zeros is float64 unless told dtype=...; so is an array of True and False times a float64 one",
    inplace="make a new array: x belongs to somebody else",
)
@pytest.mark.parametrize("source", SOURCES.values(), ids=SOURCES)
def test_corrupt_and_its_gradients(impl, source):
    source = np.array(source)
    before, (B, T) = source.copy(), source.shape
    rng = np.random.default_rng(1)
    case = {"x": rng.normal(size=(B, T, 8)), "mask_token": rng.normal(size=8)}
    given = [array.copy() for array in case.values()]
    y, _ = outcome(impl.corrupt(*given, source))
    assert_untouched([*case.values(), before], [*given, source], [*case, "source"])
    expected = np.empty((B, T, 8))
    for b, t in np.ndindex(B, T):
        expected[b, t] = case["mask_token"] if source[b, t] == M else case["x"][b, source[b, t]]
    assert_same(y, expected, "y")
    forward = lambda x, mask_token: impl.corrupt(x, mask_token, source)
    assert_operation(forward, impl.corrupt_backward, {"": case})
    assert_untouched([before], [source], ["source"])


def predictions(images, patches, classes, asked, seed=0):
    """Random logits and colours, and a choice of patches that is not in order."""
    rng = np.random.default_rng(seed)
    chosen = np.argsort(rng.random((images, patches)), axis=1)[:, :asked]
    return rng.normal(0, 2, (images, patches, classes)), rng.integers(classes, size=(images, patches)), chosen


def loss_and_gradient(impl, *arguments):
    return several(impl.masked_loss, ("loss", "dlogits"), *arguments)


SIZES = {  # images, patches, classes, chosen ones
    "3 images, 5 of 6 patches": (3, 6, 4, 5),
    "2 images, 1 of 7 patches": (2, 7, 5, 1),
    "1 image, all patches": (1, 4, 3, 4),
    "5 images, 2 of 3 patches": (5, 3, 8, 2),
}


@pytest.mark.hint("all logits equal: every colour has the probability 1/512, whatever is right")
def test_a_model_that_knows_nothing(impl):
    _, colours, chosen = predictions(3, 7, 512, 2)
    loss, _ = loss_and_gradient(impl, np.zeros((3, 7, 512)), colours, chosen)
    assert_same(loss, np.log(512.0), "the loss of equal logits")


@pytest.mark.hint(
    "the sum of -log p over the chosen patches of all images, divided by how many there are, B n"
)
@pytest.mark.parametrize("size", SIZES.values(), ids=SIZES)
def test_the_loss_is_the_mean_over_the_chosen_patches(impl, size):
    logits, colours, chosen = predictions(*size)
    before = [logits.copy(), colours.copy(), chosen.copy()]
    terms = []
    for b, i in np.ndindex(chosen.shape):
        z = logits[b, chosen[b, i]]
        terms.append(np.log(np.exp(z).sum()) - z[colours[b, chosen[b, i]]])
    loss, _ = loss_and_gradient(impl, logits, colours, chosen)
    assert_same(loss, np.mean(terms), "the loss")
    assert_untouched(before, [logits, colours, chosen], ["logits", "colours", "chosen"])


@pytest.mark.hint(
    "(p - one-hot) / (B n) in the rows of the chosen patches, each where its logits stand; 0 in all others"
)
@pytest.mark.parametrize("size", SIZES.values(), ids=SIZES)
def test_the_gradient_of_the_loss(impl, size):
    logits, colours, chosen = predictions(*size, seed=1)
    _, dlogits = loss_and_gradient(impl, logits, colours, chosen)
    assert np.shape(dlogits) == logits.shape, (
        f"dlogits has shape {np.shape(dlogits)}, expected {logits.shape}: every patch has a row"
    )
    others = np.ones(logits.shape[:2], bool)
    np.put_along_axis(others, chosen, False, axis=1)
    assert not dlogits[others].any(), "a patch that was not chosen gets a gradient"
    pushed = logits.copy()
    numerical = numerical_gradient(lambda: np.asarray(impl.masked_loss(pushed, colours, chosen)[0]), pushed)
    assert_gradient(dlogits, numerical, "dlogits")


@pytest.mark.hint("subtract the largest score of each row first, as in lesson 2; float32 in, float32 out")
def test_large_scores_and_float32(impl):
    logits, colours, chosen = predictions(2, 5, 3, 4)
    loss, dlogits = loss_and_gradient(impl, 1000 * logits, colours, chosen)
    assert np.isfinite(loss), "with scores of 1,000 the loss is not finite"
    assert np.isfinite(dlogits).all(), "with scores of 1,000 the gradient is not finite"
    exact = loss_and_gradient(impl, logits.astype("float32").astype("float64"), colours, chosen)
    loss, dlogits = loss_and_gradient(impl, logits.astype("float32"), colours, chosen)
    assert_same(loss, np.float32(exact[0]), "the loss in float32", 1e-5)
    assert_same(dlogits, exact[1].astype("float32"), "dlogits in float32", 1e-5)


@pytest.mark.hint(
    "which source would hide this fault? And can a gradient check see a forward that does the wrong thing?",
    right="central differences are off by about 1e-10: demand an error below 1e-6, and not 0",
    buffered="show one patch in two positions",
    minus_one_is_the_last="mask something; the last patch must get no more than its own",
    read_where_it_should_be_added="two patches that change places hide it: move three in a circle",
    swaps_forgotten="show a patch that is not the position's own",
    token_averaged="mask more than one patch",
    token_of_the_first_image="mask something in the second image",
    masked_patches_get_nothing="show a masked patch in another position",
    sources_of_the_first_image="give each image a source of its own, and look at the values",
    token_added="look at the values: its gradients are right, for what it does",
)
def test_trust_corrupt(impl):
    assert_trust(impl.trust_corrupt, SUSPECTS.RIGHT, SUSPECTS.WRONG)


@pytest.mark.puzzle
@pytest.mark.hint(
    "among the three patches with seen = 0, two are of colour 4: with what probability is it 4?"
)
def test_best_loss_by_hand(impl):
    colours, seen = np.array([4, 4, 9, 9]), np.array([0, 0, 0, 1])
    expected = -(2 * np.log(2 / 3) + np.log(1 / 3)) / 4
    assert_same(impl.best_loss(colours, seen), expected, "best_loss([4, 4, 9, 9], [0, 0, 0, 1])")


@pytest.mark.puzzle
@pytest.mark.hint("told nothing new, the best answer is always the same; told the colour, there is no doubt")
def test_best_loss_when_told_nothing_or_everything(impl):
    colours = np.array([7, 7, 7, 7, 2, 2, 511, 0])
    assert_same(impl.best_loss(colours, np.full(8, 3)), 1.75 * np.log(2), "told nothing")
    assert_same(impl.best_loss(colours, 600 - colours), 0.0, "told the colour, in other words")


@pytest.mark.puzzle
@pytest.mark.hint(
    "no better probabilities are found by trying: they are the shares among what looks the same"
)
def test_best_loss_of_many(impl):
    rng = np.random.default_rng(0)
    colours, seen = rng.integers(5, size=60), rng.integers(-1, 3, size=60)  # -1: told that there is nothing
    before = [colours.copy(), seen.copy()]
    losses = []
    for number in set(seen.tolist()):
        group = colours[seen == number].tolist()
        losses += [-np.log(group.count(colour) / len(group)) for colour in group]
    assert_same(impl.best_loss(colours, seen), float(np.mean(losses)), "the best loss of 60 patches")
    assert_untouched(before, [colours, seen], ["colours", "seen"])
