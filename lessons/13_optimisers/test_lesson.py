"""Checks of lesson 13."""

import math

import numpy as np
import pytest

from lessons.referee import assert_same, assert_untouched
from tinyvit.model import Params, rows_of
from tinyvit.optim import AdamW


def start(seed=0, shape=(3, 4)):
    """Weights, a gradient, and running means as they are in the middle of a training."""
    rng = np.random.default_rng(seed)
    w, g, m = rng.normal(size=(3, *shape))
    return w, g, m, rng.uniform(0.1, 2, shape)


@pytest.mark.hint("m and v start at 0; divide by 1 - b1**step and 1 - b2**step before using them (adam 3)")
def test_the_first_step_is_lr_long_whatever_the_gradient(impl):
    w, g = np.array([1.0, 1.0, 1.0]), np.array([0.2, -200.0, 0.003])
    w, m, v = impl.adamw_step(w, g, np.zeros(3), np.zeros(3), lr=0.1, step=1, eps=0.0)
    assert_same(m, 0.1 * g, "m", 1e-12)
    assert_same(v, 0.001 * g * g, "v", 1e-12)
    assert_same(w, np.array([0.9, 1.1, 0.9]), "w")


@pytest.mark.hint("eps is added to the root of v', not under it (adam 4)")
def test_eps_stands_outside_the_root(impl):
    g = np.array([1e-6])
    w, _, _ = impl.adamw_step(np.ones(1), g, np.zeros(1), np.zeros(1), lr=0.1, step=1, eps=1e-6)
    assert_same(w, np.array([0.95]), "w after a gradient as small as eps")


@pytest.mark.hint(
    "wrong after step 1: adam 3 and 4; right at first, wrong later: return m and v, not the corrected ones"
)
def test_five_steps_are_those_of_the_library(impl):
    w, _, m, v = start(1)
    m, v = 0 * m, 0 * v
    params = Params.zeros(rows_of({"a.weight": (3, 4)}), "float64")
    params["a.weight"] = w
    library, grads = AdamW(params, weight_decay=0.0), params.zeros_like()
    for step in range(1, 6):
        g = start(10 + step)[1]
        grads["a.weight"] = g
        library.step(grads, 0.01, step)
        w, m, v = impl.adamw_step(w, g, m, v, 0.01, step)
        assert_same(w, params["a.weight"], f"w after step {step}")


@pytest.mark.hint("the decay never enters g, m or v: w shrinks by the factor 1 - lr * weight_decay (adam 5)")
def test_weight_decay_is_the_same_for_all_weights(impl):
    w, g = np.array([2.0, 2.0]), np.array([1e-3, 1e3])
    m, v = 0 * g, g * g  # no drift in the gradient, so that hardly anything but the decay moves w
    after, _, _ = impl.adamw_step(w, 0 * g, m, v, lr=0.1, step=1000, weight_decay=0.5)
    assert_same(after, np.array([1.9, 1.9]), "w after decay alone")
    w, g, m, v = start(2)
    plain, m1, v1 = impl.adamw_step(w.copy(), g.copy(), m.copy(), v.copy(), 0.1, 7)
    decayed, m2, v2 = impl.adamw_step(w.copy(), g.copy(), m.copy(), v.copy(), 0.1, 7, weight_decay=0.5)
    assert_same(decayed, plain - 0.05 * w, "w after decay and step")
    assert_same(m2, m1, "m with decay")
    assert_same(v2, v1, "v with decay")


@pytest.mark.hint(
    "return new arrays (m = b1 * m + ...); math.sqrt for numbers: np.sqrt of a float is float64"
)
def test_float32_stays_float32_and_inputs_stay_whole(impl):
    arrays = [array.astype(np.float32) for array in start(3)]
    before = [array.copy() for array in arrays]
    for name, array in zip("wmv", impl.adamw_step(*arrays, 0.01, 3, weight_decay=0.1), strict=True):
        assert array.dtype == np.float32, f"{name} has dtype {array.dtype}, expected float32"
    clipped, _ = impl.clip_norm(arrays[1], 0.1)
    assert clipped.dtype == np.float32, f"the clipped gradient has dtype {clipped.dtype}, expected float32"
    assert_untouched(before, arrays)


@pytest.mark.hint("one factor for the whole array: largest / norm, with the norm of all its numbers together")
def test_a_long_gradient_is_shortened_and_keeps_its_direction(impl):
    clipped, norm = impl.clip_norm(np.array([[3.0, 0.0], [0.0, -4.0]]), 1.0)
    assert_same(clipped, np.array([[0.6, 0.0], [0.0, -0.8]]), "the clipped gradient", 1e-5)
    assert_same(norm, 5.0, "the norm before")


@pytest.mark.hint("the factor is never larger than 1; do not divide by a norm of 0")
def test_a_short_gradient_stays_as_it_is(impl):
    g = np.array([0.3, -0.4])
    clipped, norm = impl.clip_norm(g, 1.0)
    assert_same(clipped, g, "the gradient")
    assert_same(norm, 0.5, "the norm")
    assert_same(impl.clip_norm(np.zeros(3), 1.0)[0], np.zeros(3), "a gradient of zeros")


@pytest.mark.hint("counted from 1: the first step gets peak / warmup, step number warmup the whole peak")
def test_warm_up(impl):
    rates = [impl.learning_rate(step, 100, 0.4, 4) for step in (1, 2, 3, 4)]
    assert_same(np.array(rates), np.array([0.1, 0.2, 0.3, 0.4]), "the warm-up")


@pytest.mark.hint(
    "done is 0 in the first step after the warm-up and less than 1 in the last: "
    "(step - 1 - warmup) / (total - warmup)"
)
@pytest.mark.parametrize("decay", ["cosine", "linear"])
def test_decay(impl, decay):
    share = {"cosine": (1 + math.cos(math.pi / 4)) / 2, "linear": 0.75}[decay]
    rates = [impl.learning_rate(step, 50, 2.0, 10, decay) for step in (11, 21, 31)]
    assert_same(np.array(rates), np.array([2.0, 2 * share, 1.0]), f"the {decay} decay at steps 11, 21 and 31")


@pytest.mark.hint("what is done when the last step begins is less than 1: count the step - 1 before it")
@pytest.mark.parametrize("decay", ["cosine", "linear"])
def test_the_last_step_still_moves_the_weights(impl, decay):
    share = {"cosine": (1 + math.cos(0.9 * math.pi)) / 2, "linear": 0.1}[decay]
    assert_same(impl.learning_rate(15, 15, 2.0, 5, decay), 2 * share, "the rate of step 15 of 15")


@pytest.mark.hint("with warmup 0 the first step is one of the decay: test step <= warmup before you divide")
def test_no_warm_up(impl):
    assert_same(impl.learning_rate(1, 4, 1.0, 0, "linear"), 1.0, "the rate of step 1 of 4")
    assert_same(impl.learning_rate(2, 4, 1.0, 0, "linear"), 0.75, "the rate of step 2 of 4")
