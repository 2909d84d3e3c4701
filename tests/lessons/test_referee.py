"""The referee: what it accepts, what it refuses, and which result and kind of fault it names."""

import doctest
import types

import numpy as np
import pytest

from lessons import referee
from lessons.referee import (
    Fault,
    assert_exposed,
    assert_gradients,
    assert_operation,
    assert_same,
    assert_trust,
    assert_untouched,
    calls,
    unwritten,
)
from tinyvit.gradcheck import OPERATION_CHECKS, TOLERANCE, check_gradients
from tinyvit.ops import linear, linear_backward

RNG = np.random.default_rng(0)
ARRAY = RNG.normal(size=(2, 3))
INPUTS = {"x": RNG.normal(size=(2, 3)), "weight": RNG.normal(size=(3, 4)), "bias": RNG.normal(size=4)}


@pytest.fixture(autouse=True)
def no_calls():
    calls.RECENT.clear()


def fault(function, *args, **kwargs):
    """The fault that the referee raises."""
    with pytest.raises(Fault) as raised:
        function(*args, **kwargs)
    return raised.value


@pytest.mark.parametrize(
    ("got", "said", "kind"),
    [
        (None, "y is None: does the function return it?", "count"),
        ((ARRAY, None), "y is a tuple of 2, expected an array", "count"),
        ("no", "y is a str, expected an array", "shape"),
        (ARRAY[0], "y has shape (3,), expected (2, 3)", "shape"),
        (ARRAY.astype(np.float32), "y has dtype float32, expected float64", "dtype"),
        (np.where(ARRAY > 0, np.nan, ARRAY), "y has a value that is not finite: nan at", "finite"),
        (ARRAY + np.array([[0, 0, 0], [0, 1, 0]]), "y is right except at", "values"),
    ],
    ids=str,
)
def test_a_wrong_result_and_its_kind(got, said, kind):
    found = fault(assert_same, got, ARRAY, "y")
    assert str(found).startswith(said)
    assert (found.name, found.kind) == ("y", kind)


def test_a_right_result_is_accepted_within_its_tolerance():
    assert_same(ARRAY + 1e-10, ARRAY)
    assert_same(2.5, 2.5)
    assert_same(np.array([True]), np.array([True]))
    fault(assert_same, ARRAY + 1e-8, ARRAY)
    assert_same(ARRAY + 1e-8, ARRAY, tolerance=1e-7)


def test_the_dtype_of_a_number():
    found = fault(assert_same, np.float64(2.5), np.float32(2.5), "the loss")
    assert (str(found), found.kind) == (
        "the loss has dtype float64, expected float32: dtype in, dtype out",
        "dtype",
    )
    assert_same(2.5, np.float32(2.5), "a Python number, which has none")


def test_numbers_are_shown_with_as_many_digits_as_it_takes_to_differ():
    assert "expected 0.831618143, got 0.831618141" in str(fault(assert_same, 0.831618141, 0.831618143))
    assert "expected 1, got 2" in str(fault(assert_same, 2.0, 1.0))


def test_the_verb_follows_the_name():
    assert str(fault(assert_same, 2.0, 1.0, "the mean colours")).startswith("the mean colours are wrong")
    assert str(fault(assert_same, 2.0, 1.0, "the loss of two images")).startswith(
        "the loss of two images is wrong"
    )
    assert str(fault(assert_same, 2.0, 1.0, "dbias")).startswith("dbias is wrong")
    assert str(fault(assert_same, 2.0, 1.0, "the sum over the patches")).startswith(
        "the sum over the patches is"
    )
    rounded = str(fault(assert_same, np.rint(9 * ARRAY), 9 * ARRAY, "the colours"))
    assert rounded.startswith("the colours are the right ones rounded to whole numbers")


def test_an_input_changed_in_place():
    assert "argument 2 was changed in place" in str(
        fault(assert_untouched, [ARRAY, ARRAY], [ARRAY, ARRAY + 1])
    )
    found = fault(assert_untouched, [ARRAY], [ARRAY.reshape(3, 2)])
    assert "another shape in place" in str(found)
    assert found.kind == "inplace"


@pytest.mark.parametrize("check", OPERATION_CHECKS, ids=lambda check: check.name)
def test_the_library_s_operations_pass(check):
    inputs = {name: RNG.normal(size=shape) for name, shape in check.shapes.items()}
    view = check.name == "class token pooling"
    assert_operation(check.forward, check.backward, {"one case": inputs}, may_share=view)


def wrong_backward(change):
    def backward(dy, cache):
        return change(*linear_backward(dy, cache))

    return backward


def spoils_dy(dy, cache):
    gradients = linear_backward(dy, cache)
    dy *= 2
    return gradients


@pytest.mark.parametrize(
    ("backward", "said", "name", "kind"),
    [
        (
            wrong_backward(lambda dx, dw, db: (dx, 3**0.5 * dw, db)),
            "dweight is 1.732 times too large",
            "dweight",
            "values",
        ),
        (
            wrong_backward(lambda dx, dw, db: (dx, dw, db[None])),
            "dbias has shape (1, 4), expected (4,)",
            "dbias",
            "shape",
        ),
        (
            wrong_backward(lambda dx, dw, db: (dx, dw)),
            "the backward returns 2 things, expected 3",
            "",
            "count",
        ),
        (wrong_backward(lambda dx, dw, db: None), "the backward returns None", "", "count"),
        (
            wrong_backward(lambda dx, dw, db: (dx, dw * np.nan, db)),
            "dweight has a value that is not",
            "dweight",
            "finite",
        ),
        (spoils_dy, "dy was changed in place by the backward", "dy", "inplace"),
    ],
    ids=["values", "shape", "count", "nothing", "finite", "in place"],
)
def test_a_wrong_backward(backward, said, name, kind):
    found = fault(assert_gradients, linear, backward, INPUTS)
    assert str(found).startswith(said)
    assert (found.name, found.kind) == (name, kind)


def test_a_backward_that_is_right_only_once():
    def forward(x):
        return 2 * x, np.full_like(x, 2)

    def backward(dy, cache):
        cache *= dy
        return cache

    found = fault(assert_gradients, forward, backward, {"x": ARRAY})
    assert "runs a second time" in str(found)
    assert found.kind == "cache"


@pytest.mark.parametrize(
    ("result", "said"),
    [
        (lambda x: None, "the forward returns None"),
        (lambda x: x, "the forward returns one array, expected y and a cache"),
        (lambda x: (x, x, x), "the forward returns 3 things"),
    ],
)
def test_a_forward_without_a_cache(result, said):
    assert str(fault(assert_gradients, result, lambda dy, cache: dy, {"x": ARRAY})).startswith(said)


def test_two_gradients_exchanged():
    inputs = {"x": ARRAY, "weight": RNG.normal(size=(3, 3)), "bias": RNG.normal(size=(3, 3))}

    def forward(x, weight, bias):
        return x @ weight + x @ bias @ bias, (x, weight, bias)

    def backward(dy, cache):
        x, weight, bias = cache
        both = x.T @ dy @ bias.T + (x @ bias).T @ dy
        return dy @ (weight + bias @ bias).T, both, x.T @ dy

    said = str(fault(assert_gradients, forward, backward, inputs))
    assert said.startswith("dweight is what dbias should be: are the two exchanged?")


def test_float32_must_stay_float32():
    double = wrong_backward(lambda dx, dw, db: (dx, dw, db * np.float64(1)))
    found = fault(assert_operation, linear, double, {"two axes": INPUTS})
    assert (str(found), found.kind) == (
        "dbias has dtype float64, expected float32: dtype in, dtype out",
        "dtype",
    )


def test_a_gradient_that_is_an_input_itself_is_refused():
    forward = lambda x, w: ((x * w).sum(axis=0), (x, w))
    backward = lambda dy, cache: ((dy * cache[1])[None], (dy * cache[0]).sum(axis=0))
    inputs = {"x": RNG.normal(size=(1, 3)), "w": RNG.normal(size=3)}
    assert_operation(forward, backward, {"": inputs})
    view = lambda x: (x[0], x)
    back = lambda dy, cache: dy[None]
    assert "y shares its memory with x" in str(fault(assert_operation, view, back, {"": {"x": inputs["x"]}}))
    assert_operation(view, back, {"": {"x": inputs["x"]}}, may_share=True)


def test_the_case_is_named_if_there_are_several():
    wrong = wrong_backward(lambda dx, dw, db: (dx if dx.ndim == 2 else 2 * dx, dw, db))
    cases = {"two axes": INPUTS, "three axes": INPUTS | {"x": RNG.normal(size=(2, 5, 3))}}
    assert "in the case 'three axes'" in str(fault(assert_operation, linear, wrong, cases))


SUSPECTS = {
    "honest": (linear, linear_backward),
    "guilty": (linear, wrong_backward(lambda dx, dw, db: (dx, dw, db + db.mean()))),  # right if db has mean 0
}
EXPOSING = tuple(INPUTS.values())


@pytest.mark.parametrize(
    ("answer", "said"),
    [
        (None, "return two things"),
        (("nobody", EXPOSING), "there is no suspect 'nobody'"),
        (("honest", EXPOSING), "on your inputs the backward of 'honest' is right"),
        (("guilty", (EXPOSING[0], EXPOSING[1], EXPOSING[2].astype(np.float32))), "input 2 is float32"),
        (("guilty", (EXPOSING[0] * np.nan, *EXPOSING[1:])), "input 0 has a number that is not finite"),
        (("guilty", (np.zeros((90, 90)), *EXPOSING[1:])), "the inputs have more than 2000 numbers"),
        (("guilty", EXPOSING[:2]), "the suspects cannot run on your inputs"),
        (("guilty", tuple(1e12 * each for each in EXPOSING)), "on your inputs every suspect differs"),
    ],
    ids=str,
)
def test_a_suspect_that_is_not_exposed(answer, said):
    assert str(fault(assert_exposed, answer, SUSPECTS)).startswith(said)


def test_inputs_that_expose_nobody():
    halves = {
        "one": SUSPECTS["honest"],
        "other": (linear, wrong_backward(lambda dx, dw, db: (dx * (dx.size < 7), dw, db))),
    }
    assert "they expose nobody" in str(fault(assert_exposed, ("other", EXPOSING), halves))


def test_a_suspect_that_is_exposed():
    assert_exposed(("guilty", EXPOSING), SUSPECTS)


def test_a_check_of_one_s_own():
    pair = SUSPECTS["guilty"]

    def trust(forward, backward):
        return max(check_gradients(forward, backward, EXPOSING, np.random.default_rng(0))) < TOLERANCE

    assert_trust(trust, right=SUSPECTS["honest"], wrong={"it adds a mean": pair})
    believes, doubts = lambda f, b: True, lambda f, b: False
    assert "trusts a backward that is wrong: it adds a mean" in str(
        fault(assert_trust, believes, SUSPECTS["honest"], {"it adds a mean": pair})
    )
    assert "distrusts a backward that is right" in str(
        fault(assert_trust, doubts, SUSPECTS["honest"], {"a": pair})
    )
    assert "returns None" in str(fault(assert_trust, lambda f, b: None, SUSPECTS["honest"], {"a": pair}))
    optimiser = fault(assert_trust, believes, SUSPECTS["honest"], {"it adds a mean": pair}, "optimiser")
    assert "trusts an optimiser that is wrong" in str(optimiser)


def test_the_letters_of_a_docstring_name_the_sizes():
    def attend(q, k, v):
        """q, k and v (B, N, K) to y (B, N, K)."""

    q = RNG.normal(size=(2, 5, 7))
    calls.RECENT["attend"] = calls.Call(attend, (q, q, q), {})
    assert calls.letters() == {"B": 2, "N": 5, "K": 7}
    found = fault(assert_same, 7**0.5 * q, q, "dq")
    assert str(found).startswith("dq is 2.646 times too large everywhere: that is the square root of K = 7")


@pytest.mark.parametrize("size", [20, 2 * calls.LARGEST], ids=["small", "large"])
def test_a_wrong_result_that_is_written_over_the_argument_is_not_called_the_argument(size):
    class Module:
        __name__, __doc__ = "answer", ""

    def double(x):
        x *= np.where(x > 0, 2, 3)

    Module.double = staticmethod(double)
    x = np.random.default_rng(0).normal(size=size)
    right = 2 * x
    calls.Watched(Module).double(x)
    assert "the same as" not in str(fault(assert_same, x, right, "doubled x"))


def test_a_result_that_is_an_argument_changed_in_place():
    class Module:
        __name__, __doc__ = "answer", ""

    def shift(x):
        x += 1
        return x

    Module.shift = staticmethod(shift)
    watched = calls.Watched(Module)
    x = ARRAY.copy()
    said = str(fault(assert_same, watched.shift(x), ARRAY, "y"))
    assert said.startswith("y is x itself, which was changed in place")
    assert watched.used == {"shift"}


def test_memory_that_was_never_written_is_seen():
    with unwritten.shown():
        y = np.empty((2, 3))
        y[0] = ARRAY[0]
        found = fault(assert_same, 2 * y, 2 * ARRAY, "y")
        whole = np.empty_like(ARRAY, dtype=np.float32)
        assert np.isnan(whole).all() and np.empty(2, int).min() > 2**60
    assert str(found) == (
        "a part of y was never written: what stood in memory before is still there at (1, 0)"
    )
    assert found.kind == "finite"
    other = fault(assert_same, np.where(ARRAY > 0, np.nan, ARRAY), ARRAY, "y")
    assert "never written" not in str(other)


PAIR = {"x": RNG.normal(size=(2, 3)), "weight": RNG.normal(size=(3, 3)), "bias": RNG.normal(size=3)}


@pytest.mark.parametrize(
    ("change", "said", "name"),
    [
        (
            lambda dx, dw, db: (dx, dw, db + np.array([1.0, -2.0, 0.5])),
            "dbias is wrong, and dx and dweight are right",
            "dbias",
        ),
        (lambda dx, dw, db: (dx**3, 3 * dw, db), "dweight is 3 times too large everywhere", "dweight"),
        (lambda dx, dw, db: (dx**3, dw**3, db), "dx is wrong, and dbias is right", "dx"),
    ],
    ids=["one", "the telling one of two", "neither"],
)
def test_of_several_wrong_gradients_the_telling_one_is_named(change, said, name):
    found = fault(assert_gradients, linear, wrong_backward(change), PAIR)
    assert str(found).startswith(said)
    assert found.name == name


def test_a_gradient_that_is_right_for_other_inputs():
    def backward(dy, cache):
        return dy @ cache[1], *linear_backward(dy, cache)[1:]

    found = fault(assert_gradients, linear, backward, PAIR)
    assert str(found).startswith("dx is what it should be if weight were its transpose")


def test_a_value_that_is_right_for_other_inputs():
    right = lambda x, weight, bias: x @ weight + bias
    arrays = {**PAIR, "x": RNG.normal(size=(4, 3))}
    said = str(
        fault(
            assert_same,
            arrays["x"] @ PAIR["weight"].T + PAIR["bias"],
            right(**arrays),
            "y",
            of=right,
            inputs=arrays,
        )
    )
    assert said.startswith("y is what it should be if weight were its transpose")


def test_a_misspelt_function_is_answered_with_the_one_that_is_there():
    answer = types.ModuleType("exercise")
    answer.normalize = abs
    with pytest.raises(AttributeError, match=r"has no normalise.*; there is normalize"):
        calls.Watched(answer).normalise()


def test_it_judges_a_gradient_of_ones_own():
    result = doctest.testmod(referee, optionflags=doctest.ELLIPSIS)
    assert result.attempted and not result.failed
