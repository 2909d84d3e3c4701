"""Checks of lesson 9."""

import importlib
import math

import numpy as np
import pytest

from lessons.referee import assert_same, assert_trust, assert_untouched
from lessons.referee.gradients import several
from tinyvit.model import Params, specs_from_shapes
from tinyvit.optim import AdamW
from tinyvit.optim import learning_rate as library_rate

SOLUTION = importlib.import_module("lessons.09_optimisers.solution")


def start(seed=0, shape=(3, 4)):
    """Weights, a gradient, and running means as they are in the middle of a training."""
    rng = np.random.default_rng(seed)
    w, g, m = rng.normal(size=(3, *shape))
    return w, g, m, rng.uniform(0.1, 2, shape)


def step_of(impl, *arguments, **more):
    """The three arrays that adamw_step returns."""
    return several(impl.adamw_step, ("w", "m", "v"), *arguments, **more)


def clipped(impl, g, largest):
    """The two things that clip_norm returns."""
    return several(impl.clip_norm, ("g", "its norm"), g, largest)


@pytest.mark.hint("the decay never enters g, m or v: w shrinks by the factor 1 - lr * weight_decay (adam 5)")
def test_the_decay_shrinks_the_weights_alone(impl):
    w, g, m, v = start(2)
    plain, m1, v1 = step_of(impl, w.copy(), g.copy(), m.copy(), v.copy(), 0.1, 7)
    decayed, m2, v2 = step_of(impl, w.copy(), g.copy(), m.copy(), v.copy(), 0.1, 7, weight_decay=0.5)
    assert_same(decayed, plain - 0.05 * w, "w after decay and step")
    assert_same(m2, m1, "m with decay")
    assert_same(v2, v1, "v with decay")


@pytest.mark.hint(
    "m and v start at 0, so both are too small at first: what do the weights of the past add up to?",
    m="(adam 1) as it is: the correction is for this step only",
    v="(adam 2) as it is: the correction is for this step only",
)
def test_the_first_step_is_lr_long_whatever_the_gradient(impl):
    w, g = np.array([1.0, 1.0, 1.0]), np.array([0.2, -200.0, 0.003])
    w, m, v = step_of(impl, w, g, np.zeros(3), np.zeros(3), lr=0.1, step=1, eps=0.0)
    assert_same(m, 0.1 * g, "m", 1e-12)
    assert_same(v, 0.001 * g * g, "v", 1e-12)
    assert_same(w, np.array([0.9, 1.1, 0.9]), "w")


@pytest.mark.hint(
    "wrong after step 1: adam 3 and 4; right at first, wrong later: return m and v, not the corrected ones"
)
@pytest.mark.parametrize("options", [{"betas": (0.7, 0.95), "eps": 0.1}, {}], ids=["others", "default"])
def test_five_steps_are_those_of_the_library(impl, options):
    w, _, m, v = start(1)
    m, v = 0 * m, 0 * v
    params = Params.zeros(specs_from_shapes({"a.weight": (3, 4)}), "float64")
    params["a.weight"] = w
    library, grads = AdamW(params, weight_decay=0.3, **options), params.zeros_like()
    for step in range(1, 6):
        g = start(10 + step)[1]
        grads["a.weight"] = g
        library.step(grads, 0.01, step)
        w, m, v = step_of(impl, w, g, m, v, 0.01, step, weight_decay=0.3, **options)
        assert_same(m, library.m.reshape(3, 4), f"m after step {step}")
        assert_same(v, library.v.reshape(3, 4), f"v after step {step}")
        assert_same(w, params["a.weight"], f"w after step {step} with {options or 'the usual betas and eps'}")


@pytest.mark.hint(
    "eps is added to the root of the corrected v, neither under the root nor before the correction"
)
def test_eps_stands_outside_the_root(impl):
    g = np.array([1e-6])
    w, _, _ = step_of(impl, np.ones(1), g, np.zeros(1), np.zeros(1), lr=0.1, step=1, eps=1e-6)
    assert_same(w, np.array([0.95]), "w after a gradient as small as eps")


@pytest.mark.hint("the corrections are powers of the step that you are told, however large it is")
@pytest.mark.parametrize("step", [30, 1000])
def test_a_late_step(impl, step):
    arrays = start(6)
    expected = SOLUTION.adamw_step(*arrays, 0.1, step)
    w, _, _ = step_of(impl, *(array.copy() for array in arrays), 0.1, step)
    assert_same(w, expected[0], f"w after step {step}")


@pytest.mark.hint("every number of the model is on its own: shapes, axes and neighbours do not matter")
@pytest.mark.parametrize("shape", [(), (5,), (2, 3, 4)])
def test_any_shape(impl, shape):
    arrays = start(4, shape)
    for name, got, expected in zip(
        "wmv",
        step_of(impl, *(array.copy() for array in arrays), 0.02, 3, weight_decay=0.2),
        SOLUTION.adamw_step(*arrays, 0.02, 3, weight_decay=0.2),
        strict=True,
    ):
        assert_same(got, expected, name)


@pytest.mark.hint(
    "return new arrays (m = b1 * m + ...); math.sqrt for numbers: np.sqrt of a float is float64",
    inplace="no *=, no +=, no out= on what the caller handed over",
)
def test_a_step_keeps_float32_and_leaves_its_inputs_alone(impl):
    arrays = [array.astype(np.float32) for array in start(3)]
    before = [array.copy() for array in arrays]
    for name, array in zip("wmv", step_of(impl, *arrays, 0.01, 3, weight_decay=0.1), strict=True):
        assert array.dtype == np.float32, f"{name} has dtype {array.dtype}, expected float32"
        assert not any(np.may_share_memory(array, old) for old in arrays), f"{name} is no new array"
    step_of(impl, *arrays, 0.01, 3)
    assert_untouched(before, arrays)


@pytest.mark.hint("one factor for the whole array: largest / norm, with the norm of all its numbers together")
@pytest.mark.parametrize("largest", [1.0, 2.5])
def test_a_long_gradient_is_shortened_and_keeps_its_direction(impl, largest):
    g, norm = clipped(impl, np.array([[3.0, 0.0], [0.0, -4.0]]), largest)
    assert_same(g, largest * np.array([[0.6, 0.0], [0.0, -0.8]]), "the clipped gradient", 1e-5)
    assert_same(float(norm), 5.0, "the norm before")
    g, norm = clipped(impl, np.full((2, 3, 4), 10.0), largest)
    assert_same(g, np.full((2, 3, 4), largest / math.sqrt(24)), "a clipped gradient of three axes", 1e-5)


@pytest.mark.hint("the factor is never larger than 1; do not divide by a norm of 0")
def test_a_short_gradient_stays_as_it_is(impl):
    g = np.array([0.3, -0.4])
    for largest in (0.6, 1.0, math.inf):
        short, norm = clipped(impl, g, largest)
        assert_same(short, g, f"a gradient of norm 0.5 with the limit {largest}")
        assert_same(float(norm), 0.5, "the norm")
    tiny = np.array([3e-9, -4e-9])
    assert_same(clipped(impl, tiny, 1.0)[0] * 1e9, tiny * 1e9, "a gradient of norm 5e-9, times 1e9,")
    assert_same(clipped(impl, np.zeros(3), 1.0)[0], np.zeros(3), "a gradient of zeros")


@pytest.mark.hint(
    "return a new array, also where nothing is clipped; math.sqrt for numbers: np.sqrt of a float is float64",
    inplace="no *=, no +=, no out= on what the caller handed over",
)
@pytest.mark.parametrize("largest", [0.1, 100.0])
def test_clipping_keeps_float32_and_leaves_the_gradient_alone(impl, largest):
    given = start(3)[1].astype(np.float32)
    before = given.copy()
    g, _ = clipped(impl, given, largest)
    assert g.dtype == np.float32, f"the clipped gradient has dtype {g.dtype}, expected float32"
    assert not np.may_share_memory(g, given), "the clipped gradient is no new array"
    assert_untouched([before], [given])


@pytest.mark.hint("counted from 1: the first step gets peak / warmup, step number warmup the whole peak")
def test_warm_up(impl):
    for decay in ("cosine", "linear"):
        rates = [impl.learning_rate(step, 100, 0.4, 4, decay) for step in (1, 2, 3, 4)]
        assert_same(np.array(rates), np.array([0.1, 0.2, 0.3, 0.4]), "the warm-up")


@pytest.mark.hint("the cosine is the decay when none is named")
def test_cosine_by_default(impl):
    named = impl.learning_rate(30, 40, 1.0, 8, "cosine")
    assert_same(impl.learning_rate(30, 40, 1.0, 8), named, "the rate of step 30 of 40")


@pytest.mark.hint("what is done when the last step begins is less than 1: count the step - 1 before it")
@pytest.mark.parametrize("decay", ["cosine", "linear"])
def test_the_last_step_still_moves_the_weights(impl, decay):
    share = {"cosine": (1 + math.cos(0.9 * math.pi)) / 2, "linear": 0.1}[decay]
    assert_same(impl.learning_rate(15, 15, 2.0, 5, decay), 2 * share, "the rate of step 15 of 15")


@pytest.mark.hint(
    "done is 0 in the first step after the warm-up and less than 1 in the last: how many steps of the decay "
    "lie behind you when a step begins, and how many are there?"
)
@pytest.mark.parametrize("decay", ["cosine", "linear"])
def test_decay(impl, decay):
    share = {"cosine": (1 + math.cos(math.pi / 4)) / 2, "linear": 0.75}[decay]
    rates = [impl.learning_rate(step, 50, 2.0, 10, decay) for step in (11, 21, 31)]
    assert_same(np.array(rates), np.array([2.0, 2 * share, 1.0]), f"the {decay} decay at steps 11, 21 and 31")
    every = [impl.learning_rate(step, 17, 0.3, 5, decay) for step in range(1, 18)]
    right = [library_rate(step, 17, 0.3, 5, decay) for step in range(1, 18)]
    assert_same(np.array(every), np.array(right), f"the rates of steps 1 to 17 with {decay} decay")
    others = [type(rate).__name__ for rate in every if type(rate) is not float]
    assert not others, f"a rate is a {others[0]}, expected a float: math.cos gives one, np.cos does not"


@pytest.mark.hint("with warmup 0 the first step is one of the decay: test step <= warmup before you divide")
def test_no_warm_up(impl):
    assert_same(impl.learning_rate(1, 4, 1.0, 0, "linear"), 1.0, "the rate of step 1 of 4")
    assert_same(impl.learning_rate(2, 4, 1.0, 0, "linear"), 0.75, "the rate of step 2 of 4")


@pytest.mark.hint("there may be no decay either: divide by total - warmup only after the warm-up")
def test_nothing_but_warm_up(impl):
    assert_same(impl.learning_rate(3, 4, 1.0, 4), 0.75, "the rate of step 3 of 4, with a warm-up of 4")


def corrected_as_in_step_1(w, g, m, v, lr, step, betas=(0.9, 0.999), eps=1e-8, weight_decay=0.0):
    return SOLUTION.adamw_step(w, g, m, v, lr, 1, betas, eps, weight_decay)


def decayed_afterwards(w, g, m, v, lr, step, betas=(0.9, 0.999), eps=1e-8, weight_decay=0.0):
    w, m, v = SOLUTION.adamw_step(w, g, m, v, lr, step, betas, eps)
    return w - lr * weight_decay * w, m, v


def usual_betas(w, g, m, v, lr, step, betas=(0.9, 0.999), eps=1e-8, weight_decay=0.0):
    return SOLUTION.adamw_step(w, g, m, v, lr, step, eps=eps, weight_decay=weight_decay)


def eps_before_the_correction(w, g, m, v, lr, step, betas=(0.9, 0.999), eps=1e-8, weight_decay=0.0):
    return SOLUTION.adamw_step(
        w, g, m, v, lr, step, betas, eps / math.sqrt(1 - betas[1] ** step), weight_decay
    )


def written_into_m(w, g, m, v, lr, step, betas=(0.9, 0.999), eps=1e-8, weight_decay=0.0):
    w, new, v = SOLUTION.adamw_step(w, g, m, v, lr, step, betas, eps, weight_decay)
    m[...] = new
    return w, m, v


WRONG = {
    "every step is corrected like step 1": (corrected_as_in_step_1,),
    "the decay comes after the step": (decayed_afterwards,),
    "the betas are the usual ones, whatever was asked for": (usual_betas,),
    "eps is added before the correction": (eps_before_the_correction,),
    "the caller's m is written over": (written_into_m,),
}


@pytest.mark.hint(
    "more than one step, and every argument given, far from its default",
    **{
        "every step is corrected like step 1": "in step 1 this is right",
        "the decay comes after the step": "without weight decay this is right, and almost if lr is small",
        "eps is added before the correction": "with an eps of 1e-8 nobody can tell",
        "the caller's m is written over": "the numbers are right: what of the arrays that you handed over?",
    },
)
def test_trust_adamw(impl):
    assert_trust(impl.trust_adamw, (SOLUTION.adamw_step,), WRONG, "optimiser")


@pytest.mark.puzzle
@pytest.mark.hint("a step that flips the sign of w and keeps its size is the border: what are w and m then?")
@pytest.mark.parametrize(
    ("steepness", "momentum"), [(1.0, 0.0), (25.0, 0.0), (25.0, 0.9), (3.0, 0.5), (0.2, 0.99)]
)
def test_largest_rate(impl, steepness, momentum):
    got, expected = impl.largest_rate(steepness, momentum), 2 * (1 + momentum) / steepness
    assert got is not None, "largest_rate returns None: does it end with a return?"
    assert abs(got - expected) < 2e-3 * expected, (
        f"steepness {steepness}, momentum {momentum}: with lr {got:.6g} the walk "
        f"{'explodes' if got > expected else 'still comes down, and so it does with larger ones'}"
    )
