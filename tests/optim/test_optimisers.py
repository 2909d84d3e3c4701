import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.helpers import dtypes, seeds
from tinyvit.model import Params, specs_from_shapes
from tinyvit.optim import OPTIMIZERS, SGD, Adam, AdamW, make_optimizer

SHAPES = {"a.bias": (3,), "a.weight": (2, 3), "position": (2, 2), "norm.weight": (3,)}
ROWS = specs_from_shapes(SHAPES)
LRS = [0.02, 0.05, 0.03, 0.01, 0.04]


def draw(seed, dtype="float64"):
    """Random parameters, and the gradients of five steps."""
    rng = np.random.default_rng(seed)
    params = Params.zeros(ROWS, dtype)
    params.flat[...] = rng.standard_normal(params.count)
    steps = [Params(rng.normal(0.1, 1, params.count).astype(dtype), ROWS) for _ in LRS]
    return params, steps


def run(optimizer, steps):
    for step, (grads, lr) in enumerate(zip(steps, LRS, strict=True), start=1):
        optimizer.step(grads, lr, step)


def numbers(params):
    """Every parameter as (name, index, value)."""
    return [(name, i, params[name][i]) for name in params for i in np.ndindex(SHAPES[name])]


def sgd_by_hand(w, gradients, momentum):
    m = 0.0
    for g, lr in zip(gradients, LRS, strict=True):
        m = momentum * m + g
        w = w - lr * m
    return w


def adam_by_hand(w, gradients, b1, b2, eps, l2=0.0, decoupled=0.0):
    m = v = 0.0
    for t, (g, lr) in enumerate(zip(gradients, LRS, strict=True), start=1):
        w = w - lr * decoupled * w
        g = g + l2 * w
        m, v = b1 * m + (1 - b1) * g, b2 * v + (1 - b2) * g * g
        w = w - lr * (m / (1 - b1**t)) / (math.sqrt(v / (1 - b2**t)) + eps)
    return w


@given(seed=seeds(), momentum=st.sampled_from([0.0, 0.5, 0.9]))
def test_sgd_equals_the_formula_number_by_number(seed, momentum):
    params, steps = draw(seed)
    expected = [
        sgd_by_hand(w, [grads[name][i] for grads in steps], momentum) for name, i, w in numbers(params)
    ]
    run(SGD(params, momentum), steps)
    np.testing.assert_allclose([w for _, _, w in numbers(params)], expected, rtol=1e-12, atol=1e-14)


@pytest.mark.parametrize("kind", [Adam, AdamW])
@settings(max_examples=40)
@given(
    seed=seeds(),
    betas=st.sampled_from([(0.9, 0.999), (0.5, 0.8)]),
    eps=st.sampled_from([1e-8, 0.1]),
    decay=st.sampled_from([0.0, 0.1, 1.0]),
)
def test_adam_and_adamw_equal_the_formula_number_by_number(kind, seed, betas, eps, decay):
    params, steps = draw(seed)
    expected = []
    for name, i, w in numbers(params):
        gradients = [grads[name][i] for grads in steps]
        own = decay if name == "a.weight" else 0.0  # matrices only
        penalty = {"l2": own} if kind is Adam else {"decoupled": own}
        expected.append(adam_by_hand(w, gradients, *betas, eps, **penalty))
    run(kind(params, betas, eps, decay), steps)
    np.testing.assert_allclose([w for _, _, w in numbers(params)], expected, rtol=1e-10, atol=1e-12)


@pytest.mark.parametrize("kind", [Adam, AdamW])
def test_decay_leaves_biases_gains_and_positions_alone(kind):
    (with_decay, steps), (without, _) = draw(1), draw(1)
    run(kind(with_decay, weight_decay=0.5), steps)
    run(kind(without), steps)
    for name in SHAPES:
        assert np.array_equal(with_decay[name], without[name]) == (name != "a.weight"), name


def test_decoupled_decay_shrinks_by_the_learning_rate_whatever_the_gradients():
    for gradient in (0.0, 1e-3, 1e3):
        params, plain = (draw(1)[0] for _ in range(2))
        before = params["a.weight"].copy()
        grads = Params(np.full(params.count, gradient), ROWS)
        AdamW(params, weight_decay=0.3).step(grads, 0.1, 1)
        AdamW(plain).step(grads, 0.1, 1)
        np.testing.assert_allclose(plain["a.weight"] - params["a.weight"], 0.1 * 0.3 * before, rtol=1e-9)


def test_the_first_step_of_adam_is_as_large_as_the_learning_rate():
    params, (grads, *_) = draw(1)
    before = params.flat.copy()
    Adam(params).step(grads, 0.01, 1)
    np.testing.assert_allclose(before - params.flat, 0.01 * np.sign(grads.flat), rtol=1e-5)


@pytest.mark.parametrize("name", OPTIMIZERS)
@settings(max_examples=5)
@given(seed=seeds(), dtype=dtypes())
def test_gradients_are_not_modified_and_the_dtype_stays(name, seed, dtype):
    params, (grads, *_) = draw(seed, dtype)
    before = grads.flat.copy()
    optimizer = make_optimizer(name, params, weight_decay=0.1)
    optimizer.step(grads, 0.1, 1)
    np.testing.assert_array_equal(grads.flat, before)
    assert params.flat.dtype == dtype
    assert all(array.dtype == dtype for array in optimizer.state.values())


@pytest.mark.parametrize("name", OPTIMIZERS)
def test_the_state_is_all_that_is_needed_to_continue(name):
    (whole, steps), (cut, _) = draw(1), draw(1)
    run(make_optimizer(name, whole, weight_decay=0.1), steps)
    first = make_optimizer(name, cut, weight_decay=0.1)
    for step in (1, 2):
        first.step(steps[step - 1], LRS[step - 1], step)
    second = make_optimizer(name, cut, weight_decay=0.1)
    for key, array in first.state.items():
        second.state[key][...] = array
    for step in (3, 4, 5):
        second.step(steps[step - 1], LRS[step - 1], step)
    np.testing.assert_array_equal(whole.flat, cut.flat)


def test_each_name_makes_its_optimiser():
    params, _ = draw(1)
    assert type(make_optimizer("adamw", params, 0.1)) is AdamW
    assert type(make_optimizer("adam", params, 0.1)) is Adam
    assert make_optimizer("adamw", params, 0.1).weight_decay == 0.1
    assert make_optimizer("sgd", params, momentum=0.7).momentum == 0.7
    assert (AdamW(params).betas, AdamW(params).eps) == ((0.9, 0.999), 1e-8)


@pytest.mark.parametrize("name", OPTIMIZERS)
def test_an_optimiser_on_the_gpu_agrees_with_numpy(gpu, name):
    params, steps = draw(1)
    there = params.to(gpu.xp)
    run(make_optimizer(name, params, weight_decay=0.1), steps)
    run(make_optimizer(name, there, weight_decay=0.1), [grads.to(gpu.xp) for grads in steps])
    np.testing.assert_allclose(there.to(np).flat, params.flat, rtol=1e-12)


def test_unless_asked_otherwise_momentum_is_nine_tenths_and_nothing_decays():
    params, _ = draw(1)
    assert SGD(params).momentum == make_optimizer("sgd", params).momentum == 0.9
    for name in ("adam", "adamw"):
        assert make_optimizer(name, params).weight_decay == 0


@pytest.mark.parametrize("name", ["adam", "adamw", "muon"])
def test_pieces_may_be_updated_in_any_order(name):
    params, steps = draw(1)
    expected, _ = draw(1)
    run(make_optimizer(name, expected, 0.1), steps)
    done = []

    def last_first(work, pieces):
        for piece in reversed(list(pieces)):
            done.append(piece)
            work(piece)

    optimizer = make_optimizer(name, params, 0.1)
    optimizer.set_parallel_map(last_first)
    run(optimizer, steps)
    assert len(done) > len(steps)  # more than one piece at each step
    np.testing.assert_array_equal(params.flat, expected.flat)
