"""Checks of lesson 16."""

import importlib
import math

import numpy as np
import pytest

from lessons.referee import assert_same, assert_untouched
from tinyvit.model import ViTConfig, preset
from tinyvit.model.cost import multiply_adds

SUSPECTS = importlib.import_module("lessons.16_scaling.suspects")
LIMITS = importlib.import_module("lessons.13_train_cifar10.limits").LIMITS

# ---- multiply_adds_of_vit


def assert_work(impl, side, patch, width, mlp_width, layers, classes):
    config = ViTConfig(side, patch, width=width, mlp_width=mlp_width, heads=1, layers=layers, classes=classes)
    got, expected = (
        impl.multiply_adds_of_vit(side, patch, width, mlp_width, layers, classes),
        multiply_adds(config),
    )
    assert got is not None, "multiply_adds_of_vit returned None: is a return missing?"
    shape = f"multiply_adds_of_vit({side}, {patch}, {width}, {mlp_width}, {layers}, {classes})"
    assert got == expected, f"{shape}: expected {expected:,}, got {got:,}"


@pytest.mark.hint(
    "N is the number of patches and one; q, k, v, output and the two MLP layers run on all N tokens; "
    "q k^T and A v take N N D each"
)
@pytest.mark.parametrize(
    "shape", [(32, 8, 64, 128, 4, 10), (28, 7, 6, 9, 1, 3), (12, 4, 5, 22, 3, 7), (20, 2, 3, 4, 2, 11)]
)
def test_the_work_of_small_models(impl, shape):
    assert_work(impl, *shape)


@pytest.mark.hint("the patch embedding sees only patches; the head reads only the class token")
def test_embedding_and_head(impl):
    for classes in (2, 1000):
        assert_work(impl, 24, 6, 5, 7, 1, classes)
    for patch in (1, 3, 24):
        assert_work(impl, 24, patch, 11, 2, 2, 3)


@pytest.mark.hint("these are published models: B/16 does 17.6 billion multiply-adds for an image")
def test_the_work_of_the_papers_models(impl):
    for name, side in (("ti/16", 224), ("b/16", 224), ("b/32", 384), ("l/16", 224)):
        c = preset(name, side, 1000)
        assert_work(impl, side, c.patch_size, c.width, c.mlp_width, c.layers, 1000)


# ---- is_difference


def assert_verdict(impl, first, second, expected):
    before = list(first), list(second)
    got = impl.is_difference(first, second)
    assert isinstance(got, bool | np.bool_), f"is_difference returned {got!r}, expected True or False"
    assert (list(first), list(second)) == before, "is_difference changed the results it was given"
    assert bool(got) == expected, f"is_difference({first}, {second}): expected {expected}, got {got}"


def at_distance(n, m, standard_errors, spread=0.7, seed=0):
    """Two lists of n and m results whose means differ by so many standard errors of the difference."""
    rng = np.random.default_rng(seed)
    lists = [rng.normal(size=k) for k in (n, m)]
    lists = [values - values.mean() for values in lists]
    squares = sum(float(values @ values) for values in lists) / (n + m - 2)
    scale = spread / math.sqrt(squares)
    apart = standard_errors * spread * math.sqrt(1 / n + 1 / m)
    return [(scale * values + shift + 50).tolist() for values, shift in zip(lists, (0, apart), strict=True)]


@pytest.mark.hint(
    "the squares of both lists, each about its own mean, over n + m - 2; the root of 1/n + 1/m; then LIMITS, "
    "where LIMITS[30] serves for everything beyond"
)
@pytest.mark.parametrize(
    ("n", "m"), [(2, 2), (3, 3), (2, 5), (6, 3), (1, 4), (5, 1), (2, 1), (10, 9), (25, 20)]
)
def test_the_limit_is_where_it_should_be(impl, n, m):
    limit = LIMITS[min(n + m - 2, 30)]
    for times in (0.3, 0.46, 0.53, 0.7, 0.97, 1.03, 1.17, 4):  # which tell wrong limits apart, too
        for sign in (1, -1):
            lists = at_distance(n, m, sign * times * limit, seed=n + 10 * m)
            assert_verdict(impl, *lists, times > 1)


@pytest.mark.hint(
    "a difference is measured against the spread: in percent or as a share, the verdict is the same"
)
def test_the_unit_does_not_matter(impl):
    for times, expected in ((0.97, False), (1.03, True)):
        lists = at_distance(3, 4, times * LIMITS[5])
        for unit in (1e-6, 1.0, 1e6):
            assert_verdict(impl, *([unit * value for value in values] for values in lists), expected)


@pytest.mark.hint("the two lists may have different spreads: both count, by the sum of their squares")
def test_one_spread_is_larger(impl):
    noisy, calm = [40.0, 50.0, 48.0, 42.0], [52.0, 52.1, 51.9]
    assert_verdict(impl, noisy, calm, False)  # t = 2.48, of the 2.571 that it takes
    assert_verdict(impl, calm, noisy, False)
    assert_verdict(impl, noisy, [value + 1 for value in calm], True)


@pytest.mark.hint("one result of either kind says nothing about the spread, so nothing about a difference")
def test_an_anecdote_is_no_difference(impl):
    assert_verdict(impl, [0.1], [0.9], False)


@pytest.mark.hint("equal means differ by nothing, even where nothing is left to chance: `>`, not `>=`")
def test_equal_means_are_no_difference(impl):
    assert_verdict(impl, [3.0, 3.0], [3.0, 3.0], False)
    assert_verdict(impl, [3.0, 3.0], [3.5, 3.5], True)


# ---- fit_power_law


def fitted(impl, compute, error):
    before = [np.array(compute), np.array(error)]
    got = impl.fit_power_law(compute, error)
    assert isinstance(got, tuple | list) and len(got) == 2, "fit_power_law returns two numbers: a, b"
    assert_untouched(before, [np.array(compute), np.array(error)], ["compute", "error"])
    return got


@pytest.mark.hint(
    "x = log C and y = log E, each less its mean: b is minus the sum of x y over the sum of x x",
    a="log a is the mean of log E plus b times the mean of log C; a is its exponential",
    b="x = log C and y = log E, each less its mean: b is minus the sum of x y over the sum of x x",
)
@pytest.mark.parametrize(("a", "b"), [(3.0, 0.5), (0.7, 0.08), (2.0, -0.3), (5.0, 0.0)])
def test_a_power_law_is_found_exactly(impl, a, b):
    compute = [2.0, 3.0, 11.0, 400.0]
    got = fitted(impl, compute, [a * c**-b for c in compute])
    assert_same(got[1], b, "b")
    assert_same(got[0], a, "a")


@pytest.mark.hint("all points count, and each as much as any other: least squares, in the logarithms")
@pytest.mark.parametrize("count", [2, 3, 8])
def test_the_line_with_the_smallest_squares(impl, count):
    rng = np.random.default_rng(count)
    compute = 10 ** rng.uniform(4, 9, count)
    error = 4 * compute**-0.2 * np.exp(rng.normal(0, 0.2, count))
    slope, height = np.polyfit(np.log(compute), np.log(error), 1)
    a, b = fitted(impl, compute, error)
    assert_same(b, float(-slope), "b", 1e-8)
    assert_same(a, float(np.exp(height)), "a", 1e-8)
    a, b = fitted(impl, compute[::-1].tolist(), error[::-1].tolist())
    assert_same(b, float(-slope), "b", 1e-8)


@pytest.mark.hint("in other units of compute, a changes and b does not")
def test_units_of_compute(impl):
    rng = np.random.default_rng(5)
    compute, error = rng.uniform(1, 100, 6), rng.uniform(0.3, 0.6, 6)
    a, b = fitted(impl, compute, error)
    kilo_a, kilo_b = fitted(impl, 1000 * compute, error)
    assert_same(kilo_b, b, "b in another unit of compute")
    assert_same(kilo_a, a * 1000**b, "a in another unit of compute", 1e-8)


# ---- crossing


@pytest.mark.hint(
    "with a lead of -2 at one size and +6 at the next, the lines meet a quarter of the way on, in log size",
    count="a number where the curves cross",
)
@pytest.mark.parametrize(
    ("sizes", "first", "second", "expected"),
    [
        ([9, 30, 90, 300], [40, 50, 55, 58], [20, 42, 53, 64], 90 * (300 / 90) ** 0.25),
        ([10, 1000], [0.5, 0.6], [0.4, 0.7], 100.0),
        ([1, 2, 4, 8, 16], [5, 5, 5, 5, 5], [6, 4, 7, 2, 6], 8 * 2**0.75),
        ([3, 9, 27], [1, 2, 3], [0, 2, 5], 9.0),
    ],
)
def test_where_the_second_takes_the_lead_for_good(impl, sizes, first, second, expected):
    got = impl.crossing(sizes, first, second)
    assert got is not None, f"crossing({sizes}, {first}, {second}): expected {expected:g}, got None"
    assert_same(got, float(expected), f"crossing({sizes}, {first}, {second})")


@pytest.mark.hint(
    "there is no such size if the second is ahead from the first size on, or not ahead at the last one; "
    "equal is not ahead"
)
@pytest.mark.parametrize(
    ("first", "second"),
    [
        ([4, 5, 6], [5, 6, 7]),
        ([5, 6, 7], [4, 5, 6]),
        ([5, 5, 8], [4, 6, 7]),
        ([5, 6, 7], [4, 5, 7]),
        ([1, 2, 3], [1, 2, 3]),
    ],
)
def test_curves_that_do_not_cross(impl, first, second):
    got = impl.crossing([10, 20, 80], first, second)
    assert got is None, f"crossing([10, 20, 80], {first}, {second}): expected None, got {got}"


# ---- best_split


def searched(budget, model, images):
    """The best n, by trying: a grid of a thousand, refined five times."""
    (A, alpha), (B, beta) = model, images
    low, high = -10.0, math.log(budget) + 10
    for _ in range(5):
        grid = np.linspace(low, high, 1001)
        error = A * np.exp(-alpha * grid) + B * np.exp(-beta * (math.log(budget / 3) - grid))
        best, step = int(error.argmin()), grid[1] - grid[0]
        low, high = grid[best] - step, grid[best] + step
    return math.exp(grid[best])


@pytest.mark.puzzle
@pytest.mark.hint(
    "training costs 3 n d, all of the budget; make n a little larger and d as much smaller: at the best "
    "split, the error does not change"
)
@pytest.mark.parametrize("budget", [1e9, 7e14])
@pytest.mark.parametrize(
    ("model", "images"), [((3.0, 0.3), (8.0, 0.3)), ((2.0, 0.5), (9.0, 0.25)), ((40.0, 0.2), (5.0, 0.6))]
)
def test_no_other_split_is_better(impl, budget, model, images):
    got = impl.best_split(budget, model, images)
    assert isinstance(got, tuple | list) and len(got) == 2, "best_split returns two numbers: n, d"
    assert_same(3 * got[0] * got[1] / budget, 1.0, "the share of the budget that is spent")
    assert_same(got[0] / searched(budget, model, images), 1.0, "n, divided by the best n", 1e-4)


@pytest.mark.puzzle
@pytest.mark.hint("if both errors fall equally fast, a hundred times the budget is ten times the model")
def test_equal_exponents_share_a_larger_budget_equally(impl):
    n, d = impl.best_split(1e10, (3.0, 0.4), (5.0, 0.4))
    more_n, more_d = impl.best_split(1e12, (3.0, 0.4), (5.0, 0.4))
    assert_same(more_n / n, 10.0, "how many times larger the model is for 100 times the budget", 1e-4)
    assert_same(more_d / d, 10.0, "how many times more images it sees for 100 times the budget", 1e-4)


# ---- trust_comparison


def trusted(impl, decide):
    verdict = impl.trust_comparison(decide)
    assert isinstance(verdict, bool | np.bool_), f"your check returned {verdict!r}, expected True or False"
    return verdict


@pytest.mark.hint(
    "a right rule says True in 5 % of comparisons without a difference: ask often, leave chance some room; "
    "with two seeds even a right rule misses a difference of a few spreads, so try one of dozens"
)
@pytest.mark.parametrize("name", SUSPECTS.RIGHT)
def test_a_right_rule_is_trusted(impl, name):
    assert trusted(impl, SUSPECTS.RIGHT[name]), f"your check distrusts a rule that is right: {name}"


@pytest.mark.hint(
    "two seeds and many, as many of either and not, large spreads and small, differences up and down: "
    "which of these does your check not try?"
)
@pytest.mark.parametrize("name", SUSPECTS.WRONG)
def test_a_wrong_rule_is_distrusted(impl, name):
    assert not trusted(impl, SUSPECTS.WRONG[name]), f"your check trusts a rule that is wrong: {name}"
