"""Checks of lesson 2."""

import importlib

import numpy as np
import pytest

from lessons.referee import Fault, assert_exposed, assert_same, assert_untouched

suspects = importlib.import_module("lessons.02_gradient_checking.suspects")
WRONG = "standard rows", "scaled tanh", "gelu", "rms rows"
TRUTH = {name: name in WRONG for name in suspects.SUSPECTS}
REFUSE = "if x.dtype != np.float64, raise ValueError before you move anything"


def generator(seed=0):
    return np.random.default_rng(seed)


def expect(condition, message, name=""):
    """An assertion whose message is all that is shown."""
    if not condition:
        raise Fault(message, name)


def names_of(impl, cases, seed=0):
    """The names that wrong_backwards returns, after a check of their form."""
    named = impl.wrong_backwards(cases, generator(seed))
    expect(isinstance(named, list), f"wrong_backwards returns {type(named).__name__}, expected a list")
    expect(all(named.count(name) == 1 for name in named), f"{named} names a suspect more than once", "twice")
    return named


def inputs_of(name, case):
    """The names of a suspect's inputs in messages."""
    return [f"input {number} of {name!r}" for number in range(len(case[2]))]


def assert_left_alone(before, inputs, names):
    """Assert that the inputs are as they were; a move no longer than a step is numerical_gradient's."""
    for old, new, name in zip(before, inputs, names, strict=True):
        moved = np.abs(old - new).max() if old.shape == new.shape else np.inf
        if 0 < moved < 1e-4:
            remedy = "x was not put back exactly: remember the number and write it back"
            raise Fault(f"{name} moved by {moved:.1e}: {remedy}", name, "count")
    assert_untouched(before, inputs, names)


def assert_verdict(impl, case, wrong, what):
    """Assert that one triple of forward, backward and inputs is called wrong, or not."""
    before = [x.copy() for x in case[2]]
    expect(names_of(impl, {"it": case}) == ["it"] * wrong, f"{what} is {'not ' * wrong}called wrong")
    assert_left_alone(before, case[2], inputs_of("it", case))


def product(a, b, c):
    """Three inputs of one shape, and their product; the cache is the inputs."""
    return a * b * c, (a, b, c)


def product_case(backward, seed=3, size=1.0):
    """The product with a backward, given the three right gradients."""
    rng = generator(seed)
    inputs = tuple(rng.normal(0, size, (2, 3)) for _ in range(3))
    right = lambda dy, cache: (dy * cache[1] * cache[2], dy * cache[0] * cache[2], dy * cache[0] * cache[1])
    return product, lambda dy, cache: backward(*right(dy, cache)), inputs


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
    gradient = impl.numerical_gradient(lambda: (x**3).sum(), x, step=0.01)
    assert_same(gradient, np.array([12.0001, 3.0001]), "the gradient")


@pytest.mark.hint("while loss() runs, one number of x is a step off, up or down, and all others are in place")
def test_each_number_is_moved_by_itself_and_twice(impl):
    x = generator(7).normal(size=(2, 1, 3))
    before, seen = x.copy(), []

    def loss():
        seen.append(x - before)
        return x.sum()

    impl.numerical_gradient(loss, x)
    expect(len(seen) == 12, f"loss was called {len(seen)} times for 6 numbers, expected twice for each")
    moved = sorted((int(np.abs(m).argmax()), float(np.sign(m.sum()))) for m in seen)
    expect(all((m != 0).sum() == 1 for m in seen), "not exactly one number of x is moved when loss() runs")
    expect(
        moved == [(i, s) for i in range(6) for s in (-1.0, 1.0)], "not every number is moved up and down once"
    )
    size = np.array([np.abs(m).max() for m in seen])
    assert_same(size, np.full(12, 1e-5), "the step by which a number is moved", 1e-12)


@pytest.mark.hint("remember the number before you move it and write that back: 0.3 + h - h is not always 0.3")
def test_x_is_left_exactly_as_it_was(impl):
    x = generator(1).normal(size=(50, 4))
    x[:8, 0] = -(2.0 ** np.arange(-1, 7))  # next to a power of two, steps down and up are rounded differently
    before = x.copy()
    gradient = impl.numerical_gradient(lambda: (x * x).sum(), x)
    expect(x.shape == (50, 4), f"x has been given the shape {x.shape}, expected it to stay (50, 4)")
    expect(np.array_equal(before, x), f"x moved by {np.abs(x - before).max():.1e}, expected not one bit")
    expect(not np.may_share_memory(gradient, x), "the gradient lies in the memory of x: make a new array")


@pytest.mark.hint(
    "np.ndindex(x.shape) gives one index for an array without axes, ()",
    crash="x[()] is the number of an array without axes; np.ndindex(x.shape) gives that index, too",
)
def test_any_number_of_axes(impl):
    x = np.array(2.0)
    assert_same(impl.numerical_gradient(lambda: x**3, x), np.array(12.0), "the gradient of one number", 1e-8)
    deep = generator(8).normal(size=(2, 1, 3, 2))
    gradient = impl.numerical_gradient(lambda: (deep**3).sum(), deep)
    assert_same(gradient, 3 * deep**2, "the gradient", 1e-8)


@pytest.mark.hint(
    "x.reshape(-1) is a copy here, and loss() never sees it move: index x itself, or refuse x",
    restored="remember the number before you move it and write that back: 0.3 + h - h is not always 0.3",
)
@pytest.mark.parametrize("view", ["some columns", "transposed"])
def test_an_array_that_is_not_contiguous(impl, view):
    whole = generator(9).normal(size=(3, 4))
    x = whole[:, 1:3] if view == "some columns" else whole.T
    before = whole.copy()
    try:
        gradient = impl.numerical_gradient(lambda: (x**3).sum(), x)
    except ValueError:  # as tinyvit's own does
        gradient = 3 * x**2
    assert_same(gradient, 3 * x**2, "the gradient", 1e-8)
    moved = np.abs(whole - before).max()
    expect(moved == 0, f"x moved by {moved:.1e}, expected not one bit", "restored")


@pytest.mark.hint(REFUSE, inplace=REFUSE)
@pytest.mark.parametrize("dtype", ["float32", "int64"])
def test_what_is_not_float64_is_refused(impl, dtype):
    x = np.ones(3, dtype)
    try:
        impl.numerical_gradient(lambda: (x * x).sum(), x)
    except ValueError:
        assert_untouched([np.ones(3, dtype)], [x], ["x"])
        return
    except AssertionError as error:  # the answer says assert: its message would be empty
        raise Fault(f"x in {dtype} raises AssertionError, expected a ValueError") from error
    raise Fault(f"x in {dtype} was accepted, expected a ValueError: it has too few digits")


@pytest.mark.hint("|a - n| / max(|a| + |n|, 1e-3), each | | the root of the sum of all squares")
def test_the_error_by_hand(impl):
    a, n = np.array([[3.0, 4.0], [0.0, 0.0]]), np.array([[3.0, 4.0], [0.0, 5.0]])
    assert_same(impl.gradient_error(a, n), 5 / (5 + np.sqrt(50)), "the error")
    assert_same(impl.gradient_error(a, a), 0.0, "the error of two equal gradients")
    assert_same(impl.gradient_error(a, -a), 1.0, "the error of two opposite gradients")


@pytest.mark.hint("the root of the sum of all squares, however many axes; the arrays stay as they are")
@pytest.mark.parametrize("shape", [(), (5,), (3, 2), (2, 3, 4), (2, 1, 3, 2), (0, 3)])
def test_the_error_of_arrays_of_any_shape(impl, shape):
    rng = generator(10)
    a, n = np.array(rng.normal(size=shape)), np.array(rng.normal(size=shape))
    before = [a.copy(), n.copy()]
    norm = lambda array: float(np.sqrt(np.square(array).sum()))
    error = impl.gradient_error(a, n)
    assert_untouched(before, [a, n], ["by_hand", "numerical"])
    assert_same(error, norm(a - n) / max(norm(a) + norm(n), 1e-3), "the error")
    expect(isinstance(error, float), f"the error is a {type(error).__name__}, expected a float")


@pytest.mark.hint("the divisor is at least 1e-3: where both are zero but for rounding, nothing is wrong")
def test_two_gradients_that_are_zero(impl):
    zero, noise = np.zeros(4), np.full(4, 1e-11)
    assert_same(impl.gradient_error(zero, zero), 0.0, "the error of two zeros")
    assert_same(impl.gradient_error(zero, noise), 2e-8, "the error of zero and noise", 1e-15)


@pytest.mark.hint("compare the arrays as wholes: a tiny entry does not matter beside a large one")
def test_a_tiny_entry_does_not_decide(impl):
    error = impl.gradient_error(np.array([1.0, 1e-12]), np.array([1.0, 3e-12]))
    assert_same(error, 1e-12, "the error", 1e-15)


@pytest.mark.hint("NaN anywhere makes a norm NaN. Return that, or infinity, but never a small number")
@pytest.mark.parametrize("value", [np.nan, np.inf])
def test_the_error_of_what_is_not_a_number_is_never_small(impl, value):
    good, bad = np.arange(6.0).reshape(2, 3), np.arange(6.0).reshape(2, 3)
    bad[1, 2] = value
    for pair in ((good, bad), (bad, good), (bad, bad)):
        error = impl.gradient_error(*pair)
        expect(error is not None and not error < 1e-6, f"a gradient with {value} in it has the error {error}")


@pytest.mark.hint(
    "first make the checks above pass. Then: one random dy a suspect, the same in backward and in the loss, "
    "and every gradient of the tuple looked at, not only the first",
    innocent="does the loss run the forward again at every call? A y from before does not see x move",
)
def test_the_culprits_are_found(impl):
    before = [x.copy() for *_, inputs in suspects.SUSPECTS.values() for x in inputs]
    for seed in range(3):
        named = names_of(impl, suspects.SUSPECTS, seed)
        missed = [name for name, wrong in TRUTH.items() if wrong and name not in named]
        innocent = [name for name in named if not TRUTH.get(name)]
        first = "".join(innocent[:1])
        expect(not innocent, f"{first} is called wrong, and its backward is right", "innocent")
        expect(not missed, f"the backward of {' and of '.join(missed)} is wrong, and was not found")
        expect(named == sorted(named, key=list(TRUTH).index), "the names do not come in the order given")
    names = [name for each in suspects.SUSPECTS.items() for name in inputs_of(*each)]
    assert_left_alone(before, [x for *_, inputs in suspects.SUSPECTS.values() for x in inputs], names)
    expect(names_of(impl, {}) == [], "without suspects nobody is wrong: expected an empty list")


@pytest.mark.hint("a dy of ones asks for the slope of the sum, and the sum of a softmax never moves")
def test_a_softmax_backward_of_zeros_is_wrong(impl):
    case = (suspects.softmax, lambda dy, y: (np.zeros_like(dy),), (generator(2).normal(size=(2, 3)),))
    assert_verdict(impl, case, True, "a softmax backward that returns zeros")


@pytest.mark.hint("dy = rng.standard_normal(y.shape), from the rng that is given, once for each suspect")
def test_dy_is_drawn_from_rng(impl):
    given = []

    def backward(dy, cache):
        given.append(np.array(dy))
        return (2 * dy,)

    case = {"it": (lambda x: (2 * x, None), backward, (generator(4).normal(size=(2, 3)),))}
    for seed in (0, 0, 1):
        expect(names_of(impl, case, seed) == [], "a right backward is called wrong")
    expect(len(given) == 3, f"the backward ran {len(given) / 3:.0f} times for one suspect, expected once")
    expect(given[0].shape == (2, 3), f"dy has shape {given[0].shape}, expected that of y, (2, 3)")
    expect(np.array_equal(given[0], given[1]), "the same rng gives another dy: is it drawn from rng?")
    expect(not np.array_equal(given[0], given[2]), "another rng gives the same dy: is it drawn from rng?")
    expect(np.ptp(given[0]) > 0, "dy is the same number everywhere")


@pytest.mark.hint(
    "zip(inputs, gradients) gives them in pairs; all are compared for one and the same dy, drawn once",
    twice="a suspect is wrong if any of its gradients is: one wrong gradient is enough",
)
def test_every_input_counts(impl):
    assert_verdict(impl, product_case(lambda *g: g), False, "the right backward of a product")
    for number in range(3):
        wrong = product_case(lambda *g, n=number: tuple(2 * d if i == n else d for i, d in enumerate(g)))
        assert_verdict(impl, wrong, True, f"a backward with gradient {number} twice too large")
    every = product_case(lambda *g: tuple(2 * d for d in g))
    assert_verdict(impl, every, True, "a backward with all gradients twice too large")


@pytest.mark.hint("zip stops at the shorter of the two: compare the numbers of gradients and inputs first")
def test_a_missing_gradient_is_wrong(impl):
    assert_verdict(impl, product_case(lambda a, b, c: (a, b)), True, "a backward without its last gradient")
    assert_verdict(impl, product_case(lambda *g: (*g, g[0])), True, "a backward with one gradient too many")


@pytest.mark.hint("broadcasting forgives: (3, 4) - (4,) raises nothing. Compare the shapes before the values")
def test_a_gradient_of_another_shape_is_wrong(impl):
    x, bias = generator(4).normal(size=(1, 4)), generator(5).normal(size=4)
    case = (lambda x, bias: (x + bias, None), lambda dy, cache: (dy, dy), (x, bias))
    assert_verdict(impl, case, True, "a gradient of shape (1, 4) for an input of shape (4,)")


@pytest.mark.hint("NaN >= 1e-6 is False, and so is NaN < 1e-6: ask for not (error < 1e-6)")
@pytest.mark.parametrize("number", [0, 1, 2])
@pytest.mark.parametrize("value", [np.nan, np.inf])
def test_a_gradient_with_one_entry_that_is_not_a_number_is_wrong(impl, number, value):
    def spoiled(*gradients):
        gradients[number][1, 2] = value
        return gradients

    assert_verdict(impl, product_case(spoiled, 6), True, f"a gradient {number} with one entry {value}")


@pytest.mark.hint("the error is relative to the size of the gradients, the limit 1e-6: use gradient_error")
@pytest.mark.parametrize("size", [1.0, 100.0])
def test_the_limit_is_where_it_should_be(impl, size):
    slightly = product_case(lambda a, b, c: (a, b * (1 + 1e-7), c), 7, size)
    assert_verdict(impl, slightly, False, "a gradient that differs by one part in ten million")
    more = product_case(lambda a, b, c: (a, b * (1 + 6e-6), c), 7, size)
    assert_verdict(impl, more, True, "a gradient that differs by six parts in a million")


@pytest.mark.hint("a loss without axes: rng.standard_normal(y.shape) is then a single number")
def test_an_operation_that_returns_one_number(impl):
    x = generator(8).normal(size=(2, 3))
    square = lambda x: (np.asarray((x * x).sum()), x)
    assert_verdict(impl, (square, lambda dy, x: (2 * dy * x,), (x,)), False, "a right backward of a loss")
    assert_verdict(impl, (square, lambda dy, x: (2 * x,), (x,)), True, "a backward that forgets its dy")


@pytest.mark.puzzle
@pytest.mark.hint(
    "an input of ordinary shape exposes nobody. Which shapes are not ordinary?",
    name="the other two are right for all shapes: what differs in this one's way to add?",
    inputs="which shape makes the three ways to add differ? Try the smallest",
)
def test_the_guilty_pick_is_exposed(impl):
    assert_exposed(impl.guilty_pick(), suspects.PICKS)


def counted(forward):
    """The forward, and a list that grows by one with each call."""
    calls = []

    def counting(*inputs):
        calls.append(1)
        return forward(*inputs)

    return counting, calls


def rms_rows_right(dy, cache):
    n, _, _, _ = cache
    dx, _ = suspects.rms_rows_backward(dy, cache)
    return dx, (dy * n).sum(axis=0)


def reversed_rows(dy, y):
    return (suspects.softmax_backward(dy, y)[0][:, ::-1],)


@pytest.mark.puzzle
@pytest.mark.hint("one push moves all numbers at once. What does the gradient say that the loss will do?")
@pytest.mark.parametrize("seed", range(4))
def test_a_check_of_many_numbers_in_two_pushes(impl, seed):
    rng = generator(20 + seed)
    large = rng.normal(size=(150, 200)), rng.normal(size=200)
    small = (rng.normal(size=(3, 4)),)
    zeros = lambda dy, y: (np.zeros_like(dy),)
    cases = (
        (suspects.rms_rows, rms_rows_right, large, True, "a right backward of 30,200 numbers"),
        (suspects.rms_rows, suspects.rms_rows_backward, large, False, "a wrong gradient of the last input"),
        (suspects.softmax, suspects.softmax_backward, small, True, "a right backward of the softmax"),
        (suspects.softmax, zeros, small, False, "a softmax backward of zeros"),
        (suspects.softmax, reversed_rows, small, False, "a gradient with the entries of its rows reversed"),
        (suspects.swish, lambda dy, c: (np.nan * dy,), small, False, "a gradient of NaN"),
    )
    for forward, backward, inputs, right, what in cases:
        counting, calls = counted(forward)
        before = [x.copy() for x in inputs]
        error = impl.check_in_two(counting, backward, inputs, generator(seed))
        assert_untouched(before, inputs, [f"inputs[{number}]" for number in range(len(inputs))])
        expect(error is not None, "check_in_two returns None, expected the error")
        expect(len(calls) <= 3, f"forward was called {len(calls)} times, expected at most 3")
        expect((error < 1e-6) == right, f"{what} has the error {error:.1e}")


@pytest.mark.puzzle
@pytest.mark.hint("draw a push of its own for each input, also where two inputs have one shape")
def test_two_inputs_of_one_shape_are_pushed_apart(impl):
    inputs = tuple(generator(30).normal(size=(2, 3, 4)))
    forward = lambda a, b: (a * b, (a, b))
    for seed in range(3):
        error = impl.check_in_two(forward, lambda dy, c: (dy * c[0], dy * c[1]), inputs, generator(seed))
        expect(not error < 1e-6, f"two gradients of one shape, exchanged, have the error {error:.1e}")
