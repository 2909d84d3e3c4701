"""Checks of lesson 15."""

import importlib
import math

import numpy as np
import pytest

from lessons.referee import assert_gradient, assert_same, assert_trust, assert_untouched
from tinyvit.gradcheck import numerical_gradient
from tinyvit.ops import cross_entropy
from tinyvit.optim.muon import orthogonalise as of_a_stack

SUSPECTS = importlib.import_module("lessons.15_recipes.suspects")
LIMITS = importlib.import_module("lessons.13_train_cifar10.limits").LIMITS

# ---- orthogonalise


def orthogonalised(impl, g, *steps):
    before = g.copy()
    got = impl.orthogonalise(g, *steps)
    assert_untouched([before], [g], ["g"])
    return got


@pytest.mark.hint(
    "divide by the root of the sum of all squares, with nothing added to it: max(root, 1e-7) is safe too; "
    "then x becomes a x + (b x x^T + c (x x^T)^2) x, every time with the new x",
    shape="a tall matrix comes back as tall as it was",
)
@pytest.mark.parametrize("shape", [(3, 3), (2, 5), (5, 2), (1, 4), (7, 6)])
def test_the_singular_values_come_close_to_1(impl, shape):
    g = np.random.default_rng(sum(shape)).normal(size=shape)
    for scale in (1.0, 300.0, 0.002):
        got = orthogonalised(impl, scale * g)
        assert_same(got, of_a_stack(scale * g[None])[0], "the orthogonalised matrix", 1e-8)


@pytest.mark.hint(
    "steps is how often the polynomial is applied; 0 leaves the matrix divided by its norm, to which nothing "
    "is added"
)
@pytest.mark.parametrize("steps", [0, 1, 2, 9])
def test_as_many_steps_as_asked_for(impl, steps):
    g = np.random.default_rng(steps).normal(size=(4, 6))
    name = f"the matrix after {steps} steps"
    assert_same(orthogonalised(impl, g, steps), of_a_stack(g[None], steps)[0], name, 1e-8)


@pytest.mark.hint("0 / 0 is no number: do not divide by less than a very small number")
def test_zeros_stay_zeros(impl):
    zeros = np.zeros((2, 3))
    got = orthogonalised(impl, zeros)
    assert_same(got, np.zeros((2, 3)), "an orthogonalised matrix of zeros")
    assert not np.may_share_memory(got, zeros), "orthogonalise returned its argument, expected a new array"


@pytest.mark.hint("use Python floats as constants: arrays of one number in float64 make everything float64")
def test_float32_stays_float32(impl):
    g = np.random.default_rng(0).normal(size=(3, 4)).astype("float32")
    assert_same(orthogonalised(impl, g), of_a_stack(g[None])[0], "the orthogonalised matrix", 1e-4)


# ---- average_step


@pytest.mark.hint(
    "the decay of this step is the smaller of decay and (1 + step) / (10 + step); it is the share that the "
    "old average keeps"
)
@pytest.mark.parametrize(("decay", "step"), [(0.999, 1), (0.999, 80), (0.9, 79), (0.9, 500), (0.5, 3)])
def test_one_step_of_the_average(impl, decay, step):
    rng = np.random.default_rng(step)
    average, weights = rng.normal(size=(2, 3, 4))
    before = average.copy(), weights.copy()
    got = impl.average_step(average, weights, decay, step)
    assert_untouched(before, (average, weights), ("average", "weights"))
    d = min(decay, (1 + step) / (10 + step))
    assert_same(got, d * before[0] + (1 - d) * before[1], f"the average after step {step}")


@pytest.mark.hint(
    "what is 1 - decay at first? The random first weights should be forgotten within a few steps"
)
def test_the_first_weights_are_soon_forgotten(impl):
    average = np.ones(1)
    for step in range(1, 31):
        average = impl.average_step(average, np.zeros(1), 0.999, step)
    left = math.prod((1 + step) / (10 + step) for step in range(1, 31))
    assert_same(average, np.array([left]), "what is left of the first weights after 30 steps", 1e-15)


@pytest.mark.hint("Python floats as factors leave float32 as it is")
def test_the_average_of_float32_is_float32(impl):
    average, weights = np.random.default_rng(0).normal(size=(2, 5)).astype("float32")
    got = impl.average_step(average, weights, 0.99, 2)
    assert_same(got, (0.25 * average + 0.75 * weights), "the average", 1e-6)


# ---- mixed_cross_entropy


def batch(B=5, C=4, seed=0, dtype="float64"):
    rng = np.random.default_rng(seed)
    return rng.normal(0, 2, (B, C)).astype(dtype), rng.integers(0, C, B), rng.uniform(0.05, 0.95, B)


def mixed(impl, logits, labels, shares):
    before = [np.array(x) for x in (logits, labels, shares)]
    got = impl.mixed_cross_entropy(logits, labels, shares)
    is_pair = isinstance(got, tuple | list) and len(got) == 2
    assert is_pair, "mixed_cross_entropy returns two things: loss, dlogits"
    assert_untouched(before, [logits, labels, shares], ["logits", "labels", "shares"])
    return got


@pytest.mark.hint(
    "image i has the share 1 - shares[i] of its own label and shares[i] of the next one's; after the last "
    "comes the first"
)
@pytest.mark.parametrize(("B", "C"), [(5, 4), (2, 7), (1, 3), (8, 2)])
def test_the_loss_is_the_mix_of_the_losses(impl, B, C):
    logits, labels, shares = batch(B, C, B)
    each = [
        (1 - share) * cross_entropy(row[None], labels[i : i + 1])[0]
        + share * cross_entropy(row[None], labels[[(i + 1) % B]])[0]
        for i, (row, share) in enumerate(zip(logits, shares, strict=True))
    ]
    assert_same(mixed(impl, logits, labels, shares)[0], np.mean(each), "the loss")


@pytest.mark.hint("dlogits is what was predicted minus the target, over B; the target is the mixed one")
@pytest.mark.parametrize(("B", "C"), [(5, 4), (3, 6)])
def test_its_gradient(impl, B, C):
    logits, labels, shares = batch(B, C, 7)
    pushed = logits.copy()
    numerical = numerical_gradient(lambda: np.asarray(mixed(impl, pushed, labels, shares)[0]), pushed)
    assert_gradient(mixed(impl, logits, labels, shares)[1], numerical, "dlogits")


@pytest.mark.hint("a share of 0 leaves an image as it is, a share of 1 replaces it with the next")
def test_nothing_mixed_and_all_replaced(impl):
    logits, labels, _ = batch(4, 3, 2)
    for share, expected in ((0.0, labels), (1.0, np.roll(labels, -1))):
        loss, dlogits = mixed(impl, logits, labels, np.full(4, share))
        right, (p, t) = cross_entropy(logits, expected)
        assert_same(loss, right, f"the loss with shares of {share:g}")
        assert_same(dlogits, (p - t) / 4, f"dlogits with shares of {share:g}")


@pytest.mark.hint("scores of a thousand overflow an exponential: subtract the largest of each row first")
def test_large_scores_do_not_overflow(impl):
    logits, labels, shares = batch(3, 4, 5)
    loss, dlogits = mixed(impl, 500 * logits, labels, shares)
    assert np.isfinite(loss) and np.isfinite(dlogits).all(), "the loss or its gradient is not finite"


@pytest.mark.hint("shares may be float64 while the logits are float32: the results are of the logits' type")
def test_results_are_of_the_type_of_the_logits(impl):
    logits, labels, shares = batch(4, 5, 3, "float32")
    _, dlogits = mixed(impl, logits, labels, shares)
    assert dlogits.dtype == np.float32, f"dlogits is {dlogits.dtype}, expected float32, as the logits are"


# ---- real_gains


def table(counts, at, spread=0.4, seed=0):
    """A dict of lists: the first is the base, each other one so many limits of Student's t away from it."""
    rng = np.random.default_rng(seed)
    lists = [rng.normal(size=n) for n in counts]
    lists = [values - values.mean() for values in lists]
    freedom = sum(counts) - len(counts)
    lists = [spread * x / math.sqrt(sum(float(y @ y) for y in lists) / freedom) for x in lists]
    limit = LIMITS[min(freedom, 30)] * spread
    found = {"base": (70 + lists[0]).round(3).tolist()}
    for number, (values, times) in enumerate(zip(lists[1:], at, strict=True)):
        error = math.sqrt(1 / counts[0] + 1 / len(values))
        found[f"{'vbaz'[number]}{number}"] = (70 + times * limit * error + values).round(3).tolist()
    return found


def assert_gains(impl, accuracies, base, expected):
    before = {name: list(values) for name, values in accuracies.items()}
    got = impl.real_gains(accuracies, base)
    assert isinstance(got, list), f"real_gains returned {got!r}, expected a list of names"
    assert before == accuracies, "real_gains changed the results it was given"
    assert got == expected, f"real_gains of {accuracies}: expected {expected}, got {got}"


@pytest.mark.hint(
    "the squares of all lists, each about its own mean, over the number of results less the number of lists; "
    "the root of 1/n + 1/m; then LIMITS, where LIMITS[30] serves for everything beyond"
)
@pytest.mark.parametrize("counts", [(2, 2, 2), (2, 2, 2, 2), (3, 5, 2, 4), (1, 2, 3), (6, 1, 4), (20, 20, 9)])
def test_the_limit_is_where_it_should_be(impl, counts):
    near = (0.96, 1.04, -1.04), (1.04, -0.96, 0.3), (-1.04, 1.2, 0.96)
    for seed, shares in enumerate((*near, (0.67, -0.67, 1.3), (-0.9, 0.8, 0.7))):
        found = table(counts, shares[: len(counts) - 1], seed=seed)
        real = [name for name, share in zip(list(found)[1:], shares, strict=False) if abs(share) > 1]
        assert_gains(impl, found, "base", real)


@pytest.mark.hint(
    "the spread is a matter of all lists, those of names that are not compared with each other too"
)
def test_the_base_may_stand_anywhere_and_calm_lists_count(impl):
    found = {"a": [50.0, 54.0], "b": [55.8, 55.8], "base": [52.0, 52.0], "c": [60.0, 60.0]}
    assert_gains(impl, found, "base", ["c"])  # s = 1.41, so 3.8 points are 2.69 errors, of 2.776
    assert_gains(impl, {name: found[name] for name in ("c", "base")}, "base", ["c"])


@pytest.mark.hint("without a name that has two results there is nothing to divide by")
def test_single_results_say_nothing(impl):
    assert_gains(impl, {"base": [0.1], "better": [0.9]}, "base", [])
    assert_gains(impl, {"base": [50.0], "better": [70.0], "worse": [40.0, 40.2]}, "base", ["better", "worse"])


@pytest.mark.hint(
    "equal means do not differ, even if nothing is left to chance: more than the limit, not as much"
)
def test_equal_results_are_no_gain(impl):
    assert_gains(
        impl, {"base": [70.0, 70.0], "same": [70.0, 70.0], "better": [71.0, 71.0]}, "base", ["better"]
    )


# ---- nearest_factors


@pytest.mark.puzzle
@pytest.mark.hint(
    "a matrix is a sum of patterns, the strongest first: which of them do so few columns keep? Then share "
    "the strength of each equally"
)
@pytest.mark.parametrize(("shape", "rank"), [((6, 6), 2), ((6, 6), 6), ((4, 7), 3), ((7, 4), 1)])
def test_the_product_is_as_near_as_it_can_be(impl, shape, rank):
    product = np.random.default_rng(rank).normal(size=shape) + 0.7 * np.eye(*shape)
    before = product.copy()
    got = impl.nearest_factors(product, rank)
    assert_untouched([before], [product], ["product"])
    assert isinstance(got, tuple | list) and len(got) == 2, (
        "nearest_factors returns two matrices: left, right"
    )
    left, right = got
    for factor, rows, name in zip(got, shape, ("left", "right"), strict=True):
        expected = (rows, rank)
        assert np.shape(factor) == expected, f"{name} has shape {np.shape(factor)}, expected {expected}"
    U, S, Vt = np.linalg.svd(product)
    assert_same(left @ right.T, U[:, :rank] * S[:rank] @ Vt[:rank], "left @ right.T", 1e-8)
    assert_same(left.T @ left, right.T @ right, "left.T @ left", 1e-8)


# ---- trust_orthogonalise


@pytest.mark.hint(
    "wide, tall and square matrices, large numbers and small; singular values a hundred times apart; and a "
    "look at the matrix that you handed over: which of these does your check not try?",
    right="a right one need not be exact: singular values between 0.6 and 1.3 will do",
)
def test_trust_orthogonalise(impl):
    right = {name: (function,) for name, function in SUSPECTS.RIGHT.items()}
    wrong = {name: (function,) for name, function in SUSPECTS.WRONG.items()}
    assert_trust(impl.trust_orthogonalise, right, wrong, "function")
