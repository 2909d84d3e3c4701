"""The referee's diagnoses of wrong arrays: for each of them an example, and a near miss."""

import numpy as np
import pytest

from lessons.referee import calls
from lessons.referee.diagnosis import diagnose
from lessons.referee.rerun import rerun
from lessons.referee.supposed import supposed

RNG = np.random.default_rng(0)
E = RNG.normal(size=(3, 4, 5))  # what is expected
SQUARE = RNG.normal(size=(4, 4))
POSITIVE = np.abs(E) + 0.1
CENTRED = E - E.mean(axis=-1, keepdims=True)
SHARES = POSITIVE / POSITIVE.sum(axis=-1, keepdims=True)
X, BIAS, GAIN = RNG.normal(size=(3, 4, 5)), RNG.normal(size=5), RNG.normal(1, 0.5, 5)


@pytest.fixture(autouse=True)
def no_calls():
    calls.RECENT.clear()


def slight(array):
    """The array with a tenth added to one number: no longer what the diagnosis says."""
    array = np.array(array, float)
    array.flat[-1] += 0.1
    return array


def changed(array, index, value):
    array = np.array(array, float)
    array[index] = value
    return array


EXAMPLES = [
    # said, got, expected, inputs
    ("is zero everywhere", 0 * E, E, {}),
    ("is 1.732 times too large everywhere", 3**0.5 * E, E, {}),
    (
        "is 1.732 times too large everywhere: that is the square root of 3, the length of the first axis",
        3**0.5 * E,
        E,
        {"x": X},
    ),
    ("is 4 times too small everywhere: that is 4, the length of axis 1 of x", E / 4, E, {"x": X}),
    ("is 12 times too small everywhere: that is 12, the number of rows of x", E / 12, E, {"x": X}),
    (
        "is 16 times too large everywhere: that is the square of 4, the length of axis 1 of x",
        16 * E,
        E,
        {"x": X},
    ),
    (
        "is 1.25 times too large everywhere: that is 5 / 4, with 5, the length of the last",
        1.25 * E,
        E,
        {"x": X},
    ),
    ("is 3 times too large everywhere and has the wrong sign", -3 * E, E, {}),
    ("has the wrong sign everywhere", -E, E, {}),
    ("is the same as x", X, E, {"x": X}),
    ("is the transpose of what it should be", SQUARE.T, SQUARE, {}),
    ("is the right one in reversed order along the first axis", E[::-1], E, {}),
    ("is the right one shifted by +1 along axis 1", np.roll(E, 1, axis=1), E, {}),
    ("has the right parts along axis 1 in the wrong order: 0, 2, 1, 3", E[:, [0, 2, 1, 3]], E, {}),
    ("has, all along the first axis, what is right for index 0 alone", np.repeat(E[:1], 3, axis=0), E, {}),
    ("holds the right numbers, but not at the right positions", E.reshape(4, 15).T.reshape(E.shape), E, {}),
    ("is the right one minus bias: is that missing?", E - BIAS, E, {"bias": BIAS}),
    ("is the right one plus 2 times bias: has it the wrong sign?", E + 2 * BIAS, E, {"bias": BIAS}),
    ("is the right one divided by gain: is a factor missing?", E / GAIN, E, {"gain": GAIN}),
    ("is the right one times gain: is that a factor too many?", E * GAIN, E, {"gain": GAIN}),
    ("is the right one times the square of gain", E * GAIN**2, E, {"gain": GAIN}),
    ("is the right one rounded to whole numbers", np.rint(9 * E), 9 * E, {}),
    ("is the right one cut to whole numbers", np.trunc(9 * E), 9 * E, {}),
    ("is 0.5 too large everywhere", E + 0.5, E, {}),
    ("is 0.5 too small everywhere, and should add up to 0", CENTRED - 0.5, CENTRED, {}),
    ("is right only at the first index of the first axis", np.concatenate([E[:1], X[1:]]), E, {}),
    ("is right except at the last index of axis 1", changed(E, (slice(None), -1), X[:, -1]), E, {}),
    (
        "is right except at index 1 of the last axis; there it is zero everywhere",
        changed(E, (..., 1), 0),
        E,
        {},
    ),
    (
        "is right only at the last index of the first axis; elsewhere it is 3 times too large",
        E * np.array([3, 3, 1])[:, None, None],
        E,
        {},
    ),
    ("is right to 4 digits and no more", E * (1 + 3e-5 * np.sign(X)), E, {}),
    ("is right to 5 digits and no more: what is wrong is small", E * (1 + 5e-6), E, {}),
    (
        "is right to 7 digits and no more, about as many as float32 has",
        E.astype(np.float32).astype(float),
        E,
        {},
    ),
    ("should have mean 0 along the last axis, and has not", CENTRED + X[..., :1], CENTRED, {}),
    ("is right but for a number that is the same all along the last axis", E + X[..., :1], E, {}),
    ("is right but for a factor that is constant along the last axis", E * POSITIVE[..., :1], E, {}),
    ("should add up to 0 along the last axis, and adds up to", CENTRED * POSITIVE, CENTRED, {}),
    ("should add up to 1 along the last axis, and adds up to", SHARES * POSITIVE, SHARES, {}),
    (
        "adds up to 1 along axis 1, and should along the last axis",
        POSITIVE / POSITIVE.sum(axis=1, keepdims=True),
        SHARES,
        {},
    ),
    ("is off, in each row, by a multiple of that row of x", E + X * POSITIVE[..., :1], E, {"x": X}),
    ("is the same all along axis 1, and should not be", np.repeat(X[:, :1], 4, axis=1), E, {}),
    ("has shape", E.sum(axis=0), E, {}),
]


@pytest.mark.parametrize(
    ("said", "got", "expected", "inputs"), EXAMPLES, ids=[each[0][:60] for each in EXAMPLES]
)
def test_what_is_said(said, got, expected, inputs):
    if said == "has shape":
        assert diagnose(got, expected, inputs=inputs) == "it is the right one summed over the first axis"
    else:
        assert diagnose(got, expected, inputs=inputs).startswith(said)


@pytest.mark.parametrize(
    ("said", "got", "expected", "inputs"), EXAMPLES, ids=[each[0][:60] for each in EXAMPLES]
)
def test_a_near_miss_is_not_called_so(said, got, expected, inputs):
    if said.startswith(("is right to 4", "is right only", "is right except")):
        got = slight(np.flip(got))  # these speak of a part: spoil another
    if said.startswith("should add up"):
        expected = changed(expected, (0, 1), 0.7)  # these speak of what the right one keeps
    answer = diagnose(slight(got), expected, inputs=inputs)
    assert not answer.startswith(said[:30]), answer


@pytest.mark.parametrize(
    ("unsaid", "got", "expected"),
    [
        ("is right only", np.array([1.0, 5, 6, 7]), np.array([1.0, 2, 3, 4])),
        ("is right only", np.concatenate([E[:1], X[1:]]), np.concatenate([0 * E[:1], E[1:]])),
        ("is right", changed(X[0], (slice(None), 1), 0), changed(E[0], (slice(None), 1), 0)),
        ("all along", E[:1, :2, :3] + X[:1, :2, :1], E[:1, :2, :3]),
        ("factor that is constant", E[:1, :2, :3] * np.array([[2.0], [3]]), E[:1, :2, :3]),
        (
            "rounded",
            np.eye(4),
            0.4 * (np.eye(4) + np.abs(SQUARE) / np.abs(SQUARE).max() / 4) + 0.2 * np.eye(4),
        ),
        ("times too", np.array([6.0, 8]), np.array([3.0, 4])),
    ],
)
def test_what_would_speak_on_too_few_numbers_is_silent(unsaid, got, expected):
    assert unsaid not in diagnose(got, expected, inputs={})


def test_a_permutation_is_called_one():
    numbers = E.ravel()[:8]
    said = "has the right numbers in the wrong order"
    assert diagnose(numbers[[3, 0, 2, 1, 4, 7, 5, 6]], numbers, inputs={}) == said
    narrow = E.reshape(-1, 2)[:5]
    said = "has the right parts along the first axis in the wrong order: 2, 0, 1, 4, 3"
    assert diagnose(narrow[[2, 0, 1, 4, 3]], narrow, inputs={}) == said


def test_one_number_everywhere():
    said = "is the same number everywhere, and should not be"
    assert diagnose(np.full((2, 3), 0.7), E[0, :2, :3], inputs={}) == said


SHAPES = [
    ("its sum over the first axis would be right", RNG.normal(size=(3, 4)), lambda a: a.sum(axis=0)),
    ("its mean over the last axis would be right", RNG.normal(size=(3, 4)), lambda a: a.mean(axis=-1)),
    ("its sum over the first axis and axis 1 would be right", E, lambda a: a.sum(axis=(0, 1))),
    ("it is the transpose", E[0], lambda a: a.T),
    (
        "the numbers are right, but there is one axis of length 1 too many or too few",
        E[:1],
        lambda a: a[0],
    ),
    ("the numbers are right, only the shape is not", E, lambda a: a.reshape(12, 5)),
]


@pytest.mark.parametrize(("said", "got", "right"), SHAPES, ids=[each[0] for each in SHAPES])
def test_what_is_said_of_a_shape(said, got, right):
    assert diagnose(got, right(got), inputs={}) == said
    assert diagnose(slight(got), right(got), inputs={}) != said


def test_nothing_is_said_of_a_shape_that_has_nothing_in_common():
    assert diagnose(E, BIAS, inputs={}) == ""


def test_two_results_exchanged():
    assert diagnose(X, E, "dq", others={"dk": X}, inputs={}) == "is what dk should be: are the two exchanged?"
    assert diagnose(X, E, "dq", others={"dk": slight(X)}, inputs={}) == ""


def test_of_two_arrays_that_have_nothing_in_common_nothing_is_said():
    assert diagnose(X, E, inputs={"x": POSITIVE, "bias": BIAS, "gain": GAIN}) == ""


@pytest.mark.parametrize("seed", range(30))
def test_of_random_arrays_nothing_is_said(seed):
    rng = np.random.default_rng(seed)
    got, expected, x, w = (rng.normal(size=(2, 3)) for _ in range(4))
    assert diagnose(got, expected, inputs={"x": x, "w": w}) == ""


def test_half_of_many_numbers_is_found_without_a_search_for_each():
    right, other = np.random.default_rng(0).normal(size=(2, 100_000))
    got = np.where(np.arange(100_000) < 50_000, right, other)  # a search for each would take minutes
    assert diagnose(got, right, inputs={}) == "is right except at indices 50000 to 99999"


def test_a_size_that_two_axes_share_is_not_given_as_the_reason():
    twice = {"x": RNG.normal(size=(2, 7)), "w": RNG.normal(size=(4, 7))}
    assert "7, the length of the last axis of x" in diagnose(7 * E, E, inputs=twice)
    assert (
        diagnose(2 * E, E, inputs=twice) == "is 2 times too large everywhere"
    )  # two is the size of too much


def test_a_single_number_is_blamed_on_a_size_only_if_it_is_not_a_round_one():
    inputs = {"logits": RNG.normal(size=(5, 3))}
    said = diagnose(5 * 1.234567, 1.234567, inputs=inputs)
    assert said == "is 5 times too large: that is 5, the length of the first axis of logits"
    assert diagnose(5.0, 1.0, inputs=inputs) == ""
    assert diagnose(5.1 * 1.234567, 1.234567, inputs=inputs) == ""


def test_a_factor_that_went_in_squared_or_in_a_tuple():
    def function(x, patch, betas):
        """x (B, N)."""

    def said(factor, **kwargs):
        calls.RECENT["function"] = calls.Call(function, (X,), {"patch": 3.7, "betas": (0.7, 0.95)} | kwargs)
        return diagnose(factor * E, E)

    assert said(3.7**2).endswith("that is the square of patch = 3.7")
    assert said(1 / 0.3).endswith("that is 1 / (1 - betas[0]) = 3.333")
    assert said(3.8**2) == "is 14.44 times too large everywhere"
    assert said(100.0, patch=0.01) == "is 100 times too large everywhere"  # too many things are a hundred


def test_a_single_number_is_not_blamed_on_a_ratio_of_sizes():
    inputs = {"logits": RNG.normal(size=(5, 3))}
    assert diagnose(np.float64(1.5 * 1.234567), np.float64(1.234567), inputs=inputs) == ""
    assert diagnose(1.5 * E, E, inputs=inputs).endswith(
        "that is 3 / 2, with 3, the length of the last axis of logits"
    )


WIDE = RNG.normal(size=(4, 12))


@pytest.mark.parametrize(
    ("said", "places", "near"),
    [
        ("is right except at indices 4 to 7 of the last axis", slice(4, 8), [4, 5, 7, 9]),
        (
            "is right only at indices 4 to 7 of the last axis",
            [0, 1, 2, 3, 8, 9, 10, 11],
            [0, 2, 4, 5, 7, 8, 10],
        ),
    ],
)
def test_a_range_of_indices(said, places, near):
    got, other = WIDE.copy(), WIDE.copy()
    got[:, places], other[:, near] = RNG.normal(size=got[:, places].shape), RNG.normal(size=(4, len(near)))
    assert diagnose(got, WIDE, inputs={}) == said
    assert "indices 4 to 7" not in diagnose(other, WIDE, inputs={})


def test_what_is_right_once_an_input_is_taken_off():
    inputs = {"bias": BIAS}
    said = diagnose(2 * E + BIAS, E + BIAS, inputs=inputs)
    assert said == "is 2 times too large everywhere, once bias is taken off"
    said = diagnose(POSITIVE[..., :1] * E + BIAS, E + BIAS, inputs=inputs)
    assert said.startswith("is right but for a factor that is constant along the last axis")
    assert said.endswith("once bias is taken off")
    assert diagnose(slight(2 * E + BIAS), E + BIAS, inputs=inputs) == ""


def mixed(q, k, v, gain, weight):
    """A right function of five inputs, no two of which do the same."""
    return np.tanh(q) @ k * gain + np.sin(v) @ weight


GIVEN = {name: RNG.normal(size=(4, 4)) for name in ("q", "k", "v", "gain", "weight")}


@pytest.mark.parametrize(
    ("said", "change"),
    [
        ("q or k or gain were zero", {"gain": np.zeros((4, 4))}),
        ("gain were all ones", {"gain": np.ones((4, 4))}),
        ("weight were its transpose", {"weight": GIVEN["weight"].T}),
        ("weight were the identity matrix", {"weight": np.eye(4)}),
        ("v were k", {"v": GIVEN["k"]}),
        ("q and k were exchanged", {"q": GIVEN["k"], "k": GIVEN["q"]}),
        ("v or weight were of the other sign", {"v": -GIVEN["v"]}),
        ("q were 2.646 times as large: that is the square root of K = 7", {"q": 7**0.5 * GIVEN["q"]}),
        ("q were 7 times smaller: that is K = 7", {"q": GIVEN["q"] / 7}),
    ],
)
def test_what_it_should_be_for_other_inputs(said, change):
    def function(x):
        """x (B, K)."""

    calls.RECENT["function"] = calls.Call(function, (RNG.normal(size=(2, 7)),), {})
    right = lambda arrays: mixed(**arrays)
    got = mixed(**(GIVEN | change))
    assert supposed(got, right, GIVEN) == f"is what it should be if {said}"
    assert supposed(slight(got), right, GIVEN) == ""


def test_a_group_of_parameters_taken_for_another():
    names = "norm1.weight", "norm1.bias", "norm2.weight", "norm2.bias"
    given = {name: RNG.normal(size=4) for name in names}

    def right(arrays):
        a, b, c, d = (arrays[name] for name in names)
        return np.tanh(a * SQUARE + b) * c + d

    got = right(given | {"norm2.weight": given["norm1.weight"], "norm2.bias": given["norm1.bias"]})
    assert supposed(got, right, given) == "is what it should be if norm2 were norm1"
    assert supposed(slight(got), right, given) == ""
    other = dict(zip(names, [given[name] for name in (*names[2:], *names[:2])], strict=True))
    assert supposed(right(other), right, given) == "is what it should be if norm1 and norm2 were exchanged"


def test_what_is_supposed_is_bounded_by_its_work(monkeypatch):
    monkeypatch.setattr("lessons.referee.supposed.WORK", 0)
    tried = []
    assert supposed(RNG.normal(size=(4, 4)), lambda arrays: tried.append(1) or np.ones((4, 4)), GIVEN) == ""
    assert len(tried) == 1


def test_nothing_is_supposed_of_random_or_simple_numbers():
    right = lambda arrays: mixed(**arrays)
    assert supposed(RNG.normal(size=(4, 4)), right, GIVEN) == ""
    assert supposed(np.zeros((4, 4)), right, GIVEN) == ""
    assert supposed(np.zeros((4, 4)), lambda arrays: 0 * mixed(**arrays), GIVEN) == ""


def test_nothing_is_tried_where_only_the_fault_counts():
    right = lambda arrays: mixed(**arrays)
    got = mixed(**(GIVEN | {"v": GIVEN["k"]}))
    with rerun():
        assert supposed(got, right, GIVEN) == ""
    assert supposed(got, right, GIVEN) != ""
