"""Checks of lesson 23."""

import importlib
from itertools import combinations

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
from tinyvit.gradcheck import numerical_gradient

MAE = importlib.import_module("lessons.23_masked_patches.mae")
SUSPECTS = importlib.import_module("lessons.23_masked_patches.suspects")

# The pictures of the text: four places, of which the last and the second are in sight, in this order.
SEEN = np.array([[3, 1]])
PLACES = {  # pictures, places, and how many of them are in sight
    "2 pictures, 3 of 6 places": (2, 6, 3),
    "3 pictures, 1 of 5 places": (3, 5, 1),
    "1 picture, all 4 places": (1, 4, 4),
    "5 pictures, 2 of 3 places": (5, 3, 2),
}


def places(B, T, n, seed=0):
    """A choice of n places for each picture, in no order."""
    return np.random.default_rng(seed).random((B, T)).argsort(axis=1)[:, :n]


@pytest.mark.hint("row i of dy belongs to place seen[i]; the other places get zeros")
def test_the_way_back_of_the_text(impl):
    _, cache = MAE.take_seen(np.arange(8.0).reshape(1, 4, 2), SEEN)
    dx = impl.take_seen_backward(np.array([[[1.0, 2.0], [3.0, 4.0]]]), cache)
    assert_same(dx, np.array([[[0.0, 0.0], [3.0, 4.0], [0.0, 0.0], [1.0, 2.0]]]), "dx")


@pytest.mark.hint(
    "each row of dy goes to where it was taken from in its own picture: dx[b, seen[b, i]] = dy[b, i]",
    dtype="np.zeros is float64 unless told dtype=...",
    shape="dx has all T places: their number is in the cache",
)
@pytest.mark.parametrize("size", PLACES.values(), ids=PLACES)
def test_take_seen_backward(impl, size):
    seen = places(*size)
    before = seen.copy()
    x = np.random.default_rng(1).normal(size=(*size[:2], 4))
    assert_operation(lambda x: MAE.take_seen(x, seen), impl.take_seen_backward, {"": {"x": x}})
    assert_untouched([before], [seen], ["seen"])


Y = np.array([[[1.0, 2.0], [3.0, 4.0]]])
TOKEN = np.array([-1.0, 9.0])
POSITIONS = np.array([[0.0, 0.0], [10.0, 10.0], [20.0, 20.0], [30.0, 30.0]])
DZ = np.array([[[1.0, 0.0], [0.0, 2.0], [3.0, 3.0], [-1.0, 4.0]]])


@pytest.mark.hint(
    "the first token was taken from place 3, the second from place 1; 0 and 2 get the mask token"
)
def test_the_places_of_the_text(impl):
    z, _ = outcome(impl.put_back(Y.copy(), TOKEN.copy(), POSITIONS.copy(), SEEN.copy()))
    expected = np.array([[[-1.0, 9.0], [13.0, 14.0], [19.0, 29.0], [31.0, 32.0]]])
    assert_same(z, expected, "z of the four places")


@pytest.mark.hint(
    "follow each row of dz back to all that was added up there",
    dy="the first token is in place 3, the second in place 1",
    dmask_token="the mask token is in places 0 and 2",
    dpositions="with one picture, each position gets the gradient of its place",
)
def test_the_gradients_of_the_text(impl):
    given = {"y": Y, "mask_token": TOKEN, "positions": POSITIONS}
    _, cache = outcome(impl.put_back(*(array.copy() for array in given.values()), SEEN.copy()))
    got = named(impl.put_back_backward(DZ.copy(), cache), given)
    assert_same(got["y"], np.array([[[-1.0, 4.0], [0.0, 2.0]]]), "dy")
    assert_same(got["mask_token"], np.array([4.0, 3.0]), "dmask_token")
    assert_same(got["positions"], DZ[0], "dpositions")


@pytest.mark.hint(
    "every picture has its own places in sight, in its own order",
    dy="read dz where the token was put: dz[b, seen[b, i]]",
    dmask_token="the sum, not the mean, over the hidden places of all pictures, of shape (E,)",
    dpositions="every picture has every position, whether its place is in sight or not",
    dtype="np.zeros and np.empty are float64 unless told dtype=...",
)
@pytest.mark.parametrize("size", PLACES.values(), ids=PLACES)
def test_put_back_and_its_gradients(impl, size):
    (B, T, n), rng = size, np.random.default_rng(2)
    seen = places(*size, seed=3)
    case = {
        "y": rng.normal(size=(B, n, 5)),
        "mask_token": rng.normal(size=5),
        "positions": rng.normal(size=(T, 5)),
    }
    before, given = seen.copy(), [array.copy() for array in case.values()]
    z, _ = outcome(impl.put_back(*given, seen))
    assert_untouched([*case.values(), before], [*given, seen], [*case, "seen"])
    expected = np.empty((B, T, 5))
    for b, t in np.ndindex(B, T):
        where = list(seen[b])
        token = case["y"][b, where.index(t)] if t in where else case["mask_token"]
        expected[b, t] = token + case["positions"][t]
    assert_same(z, expected, "z")
    forward = lambda y, mask_token, positions: impl.put_back(y, mask_token, positions, seen)
    assert_operation(forward, impl.put_back_backward, {"": case})
    assert_untouched([before], [seen], ["seen"])


def canvas(B, T, n, seed=0):
    """Painted patches, true patches of other means and contrasts, and the places in sight."""
    rng = np.random.default_rng(seed)
    patches = rng.uniform(0.05, 2, (B, T, 1, 3)) * rng.normal(size=(B, T, 4, 3))
    return rng.normal(size=patches.shape), patches + rng.normal(0, 2, (B, T, 1, 3)), places(B, T, n, seed)


SIZES = {
    "2 pictures, 3 of 6 places": (2, 6, 3),
    "3 pictures, 1 of 5 places": (3, 5, 1),
    "1 picture, 1 of 2 places": (1, 2, 1),
}
EPS = 0.3


def loss_and_gradient(impl, *arguments):
    return several(impl.painting_loss, ("loss", "dpainted"), *arguments)


@pytest.mark.hint("the patch has mean 5 and variance 1: with eps = 0, the target is (-1, 1, 1, -1)")
def test_the_loss_by_hand(impl):
    patches = np.array([[[4.0, 6.0, 6.0, 4.0], [7.0, 0.0, 1.0, 5.0]]])[..., None]  # grey: one channel
    painted = np.array([[[0.0, 1.0, 1.0, -3.0], [9.0, 9.0, 9.0, 9.0]]])[..., None]
    loss, dpainted = loss_and_gradient(impl, painted, patches, np.array([[1]]), 0.0)
    assert_same(loss, 1.25, "the loss")
    expected = np.array([[[0.5, 0.0, 0.0, -1.0], [0.0, 0.0, 0.0, 0.0]]])[..., None]
    assert_same(dpainted, expected, "dpainted")


@pytest.mark.hint("each channel of each patch has its own mean and variance; eps is added under the root")
@pytest.mark.parametrize("size", SIZES.values(), ids=SIZES)
def test_the_loss_is_the_mean_over_the_hidden_patches(impl, size):
    painted, patches, seen = canvas(*size)
    before = [painted.copy(), patches.copy(), seen.copy()]
    terms = []
    for b, t in np.ndindex(patches.shape[:2]):
        if t not in seen[b]:
            for c, x in enumerate(patches[b, t].T):
                terms += [(painted[b, t, :, c] - (x - x.mean()) / np.sqrt(x.var() + EPS)) ** 2]
    loss, _ = loss_and_gradient(impl, painted, patches, seen, EPS)
    assert_same(loss, np.mean(terms), "the loss")
    assert_untouched(before, [painted, patches, seen], ["painted", "patches", "seen"])


@pytest.mark.hint(
    "2 (painted - wanted) / count where hidden, with the count that the loss divides by; else 0"
)
@pytest.mark.parametrize("size", SIZES.values(), ids=SIZES)
def test_the_gradient_of_the_loss(impl, size):
    painted, patches, seen = canvas(*size, seed=1)
    _, dpainted = loss_and_gradient(impl, painted, patches, seen, EPS)
    assert np.shape(dpainted) == painted.shape, (
        f"dpainted has shape {np.shape(dpainted)}, expected {painted.shape}: every place has a row"
    )
    pushed = painted.copy()
    numerical = numerical_gradient(
        lambda: np.asarray(impl.painting_loss(pushed, patches, seen, EPS)[0]), pushed
    )
    assert_gradient(dpainted, numerical, "dpainted")


@pytest.mark.hint("a patch of one colour has variance 0: without eps, it is divided by zero")
def test_a_patch_of_one_colour(impl):
    painted, patches, seen = canvas(2, 4, 2)
    patches[:] = 0.25
    loss, dpainted = loss_and_gradient(impl, painted, patches, seen, 1e-6)
    assert np.isfinite(loss), "with patches of one colour the loss is not finite"
    assert np.isfinite(dpainted).all(), "with patches of one colour the gradient is not finite"
    hidden = np.delete(painted[0], seen[0], axis=0), np.delete(painted[1], seen[1], axis=0)
    assert_same(loss, np.mean(np.square(hidden)), "the loss, where all targets are 0")


@pytest.mark.hint(
    "float32 in, float32 out",
    dtype="a number that NumPy has counted is an int64, and makes float64 of float32: make it an int",
)
def test_float32(impl):
    painted, patches, seen = canvas(2, 5, 2)
    single = painted.astype("float32"), patches.astype("float32")
    exact = loss_and_gradient(impl, *(array.astype("float64") for array in single), seen, EPS)
    loss, dpainted = loss_and_gradient(impl, *single, seen, EPS)
    assert_same(loss, np.float32(exact[0]), "the loss in float32", 1e-5)
    assert_same(dpainted, exact[1].astype("float32"), "dpainted in float32", 1e-5)


@pytest.mark.hint(
    "which pictures would hide this fault? And can a gradient check see a forward that does the wrong thing?",
    right="central differences are off by about 1e-10: demand an error below 1e-6, and not 0",
    in_reading_order="let the places in sight stand in no order",
    order_taken_twice="two places that change places hide it: move three in a circle",
    places_of_the_first_picture="give each picture places of its own",
    token_averaged="hide more than one place",
    token_of_the_first_picture="hide something in the second picture",
    token_of_all_places="leave something in sight",
    positions_of_the_hidden="leave something in sight",
    token_added="look at the values: its gradients are right, for what it does",
    bare_mask_tokens="look at the values: its gradients are right, for what it does",
)
def test_trust_put_back(impl):
    assert_trust(impl.trust_put_back, SUSPECTS.RIGHT, SUSPECTS.WRONG)


@pytest.mark.puzzle
@pytest.mark.hint("four patches, a hidden one and a neighbour: of the three others, which one is in sight?")
def test_lonely_by_hand(impl):
    assert_same(impl.lonely(4, 1, 1), 2 / 3, "lonely(4, 1, 1)")
    assert_same(impl.lonely(4, 2, 1), 1 / 3, "lonely(4, 2, 1)")


@pytest.mark.puzzle
@pytest.mark.hint("go through all choices of what is in sight, and count those without a neighbour")
@pytest.mark.parametrize(
    ("patches", "seen", "near"), [(9, 2, 8), (9, 3, 3), (10, 4, 5), (8, 0, 3), (7, 5, 3)]
)
def test_lonely_by_counting(impl, patches, seen, near):
    choices = list(combinations(range(1, patches), seen))  # patch 0 is hidden; 1 to near lie beside it
    empty = sum(min(choice, default=patches) > near for choice in choices)
    got = impl.lonely(patches, seen, near)
    assert_same(got, empty / len(choices), f"lonely({patches}, {seen}, {near})")
