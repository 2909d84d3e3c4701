"""Checks of lesson 3."""

import importlib

import numpy as np
import pytest

from lessons.referee import assert_same

suspects = importlib.import_module("lessons.03_gradient_checking.suspects")
WRONG = "softmax", "scaled tanh", "rms rows"
TRUTH = {name: name in WRONG for name in suspects.SUSPECTS}


def generator(seed=0):
    return np.random.default_rng(seed)


def expect(condition, message):
    """An assertion whose message is all that is shown."""
    if not condition:
        raise AssertionError(message)


def names_of(impl, cases):
    """What wrong_backwards says, after a look at its form."""
    named = impl.wrong_backwards(cases, generator())
    expect(isinstance(named, list), f"wrong_backwards returns {type(named).__name__}, expected a list")
    return named


def assert_verdict(impl, case, wrong, what):
    """Assert that one pair of forward and backward is called wrong, or not."""
    expect(names_of(impl, {"it": case}) == ["it"] * wrong, f"{what} is {'not ' * wrong}called wrong")


@pytest.mark.hint("for each number: loss() with it a step higher, less loss() a step lower, over 2 step")
def test_the_slope_of_a_sum_of_squares(impl):
    x = np.array([[1.0, -2.0, 3.0], [0.5, 0.0, -4.0]])
    gradient = impl.numerical_gradient(lambda: (x * x).sum(), x)
    assert_same(gradient, 2 * np.array([[1.0, -2.0, 3.0], [0.5, 0.0, -4.0]]), "the gradient", 1e-8)


@pytest.mark.hint("worked example: x^3 at 2 with step 0.1 gives 12.01; the step is the third argument")
def test_the_cube_by_hand(impl):
    x = np.array([2.0, -1.0])
    gradient = impl.numerical_gradient(lambda: (x**3).sum(), x, 0.1)
    assert_same(gradient, np.array([12.01, 3.01]), "the gradient")


@pytest.mark.hint("remember the number before you move it and write that back: 0.3 + h - h is not always 0.3")
def test_x_is_left_exactly_as_it_was(impl):
    x = generator(1).normal(size=(50, 4))
    before = x.copy()
    impl.numerical_gradient(lambda: (x * x).sum(), x)
    expect(np.array_equal(before, x), f"x moved by {np.abs(x - before).max():.1e}, expected not one bit")


@pytest.mark.hint("if x.dtype != np.float64, raise ValueError before you move anything")
def test_float32_is_refused(impl):
    x = np.ones(3, np.float32)
    try:
        impl.numerical_gradient(lambda: (x * x).sum(), x)
    except ValueError:
        return
    except AssertionError as error:  # the answer says assert: its message would be empty
        raise AssertionError("x in float32 raises AssertionError, expected a ValueError") from error
    raise AssertionError("x in float32 was accepted, expected a ValueError: it has too few digits")


@pytest.mark.hint("|a - n| / max(|a| + |n|, 1e-3), each | | the root of the sum of all squares")
def test_the_error_by_hand(impl):
    a, n = np.array([[3.0, 4.0], [0.0, 0.0]]), np.array([[3.0, 4.0], [0.0, 5.0]])
    assert_same(impl.gradient_error(a, n), 5 / (5 + np.sqrt(50)), "the error")
    assert_same(impl.gradient_error(a, a), 0.0, "the error of two equal gradients")
    assert_same(impl.gradient_error(a, -a), 1.0, "the error of two opposite gradients")


@pytest.mark.hint("the divisor is at least 1e-3: where both are zero but for rounding, nothing is wrong")
def test_two_gradients_that_are_zero(impl):
    zero, noise = np.zeros(4), np.full(4, 1e-11)
    assert_same(impl.gradient_error(zero, zero), 0.0, "the error of two zeros")
    assert_same(impl.gradient_error(zero, noise), 2e-8, "the error of zero and noise", 1e-15)


@pytest.mark.hint("compare the arrays as wholes: a tiny entry does not matter beside a large one")
def test_a_tiny_entry_does_not_decide(impl):
    error = impl.gradient_error(np.array([1.0, 1e-12]), np.array([1.0, 3e-12]))
    assert_same(error, 1e-12, "the error", 1e-15)


@pytest.mark.hint(
    "first make the checks above pass. Then: one random dy a suspect, the same in backward and in the loss, "
    "and every gradient of the tuple looked at, not only the first"
)
def test_the_three_culprits_are_found(impl):
    named = names_of(impl, suspects.SUSPECTS)
    missed = [name for name, wrong in TRUTH.items() if wrong and name not in named]
    innocent = [name for name in named if not TRUTH.get(name)]
    expect(not innocent, f"{''.join(innocent[:1])} is called wrong, and its backward is right")
    expect(not missed, f"{3 - len(missed)} of the 3 wrong backwards are found")
    expect(named == sorted(named, key=list(TRUTH).index), "the names do not come in the order given")


@pytest.mark.hint("a dy of ones asks for the slope of the sum, and the sum of a softmax never moves")
def test_a_softmax_backward_of_zeros_is_wrong(impl):
    case = (suspects.softmax, lambda dy, y: (np.zeros_like(dy),), (generator(2).normal(size=(2, 3)),))
    assert_verdict(impl, case, True, "a softmax backward that returns zeros")


@pytest.mark.hint(
    "zip(inputs, gradients) gives them in pairs; all are compared for one and the same dy, drawn once"
)
def test_every_input_counts(impl):
    rng = generator(3)
    inputs = rng.normal(size=(2, 3)), rng.normal(size=(2, 3))
    product = lambda a, b: (a * b, (a, b))
    right = (product, lambda dy, cache: (dy * cache[1], dy * cache[0]), inputs)
    assert_verdict(impl, right, False, "the right backward of a product")
    wrong = (product, lambda dy, cache: (dy * cache[1], dy), inputs)
    assert_verdict(impl, wrong, True, "a product whose second gradient lacks a factor")


@pytest.mark.hint("broadcasting forgives: (3, 4) - (4,) raises nothing. Compare the shapes before the values")
def test_a_gradient_of_another_shape_is_wrong(impl):
    x, bias = generator(4).normal(size=(1, 4)), generator(5).normal(size=4)
    case = (lambda x, bias: (x + bias, None), lambda dy, cache: (dy, dy), (x, bias))
    assert_verdict(impl, case, True, "a gradient of shape (1, 4) for an input of shape (4,)")


@pytest.mark.hint("NaN >= 1e-6 is False, and so is NaN < 1e-6: ask for not (error < 1e-6)")
def test_a_gradient_that_is_not_a_number_is_wrong(impl):
    case = (lambda x: (2 * x, None), lambda dy, cache: (dy * np.nan,), (generator(6).normal(size=3),))
    assert_verdict(impl, case, True, "a gradient of NaN")
