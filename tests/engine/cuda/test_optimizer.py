"""Norm, clipping and updates: the kernels against tinyvit.optim."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.engine.cuda.run import assert_agrees, rounded, run
from tests.helpers import seeds
from tinyvit.engine.cuda.calls.optimizer import clip, square_partials, squared_sums, to_bf16, update
from tinyvit.engine.cuda.launch import Buffer
from tinyvit.model.layout import specs_from_shapes
from tinyvit.model.params import Params
from tinyvit.optim import clip_norm, make_optimizer

KERNELS = ("squared_sums", "clip", "update<ADAMW>", "update<ADAM>", "update<SGD>", "to_bf16")


def parameters(rng, rows, columns, others):
    """A matrix, which decays, and other numbers, which do not."""
    params = Params.zeros(specs_from_shapes({"a.weight": (rows, columns), "b": (others,)}), "float64")
    params.flat[:] = rng.standard_normal(params.count).astype(np.float32)
    return params


def flat(name, count, dtype="float32"):
    return Buffer(name, (count,), dtype)


@settings(max_examples=40)
@given(count=st.integers(1, 5000), largest=st.sampled_from([0.5, 1e6, math.inf]), seed=seeds())
def test_the_norm_and_the_factor_are_those_of_the_reference(count, largest, seed):
    grads = parameters(np.random.default_rng(seed), 1, 1, count)
    partials, controls = flat("partials", square_partials(grads.count)), flat("controls", 8)
    sums = run(squared_sums(flat("grads", grads.count), partials), {"grads": grads.flat}, KERNELS)
    factor, norm = run(clip(partials, controls, largest), sums | {"controls": np.zeros(8)}, KERNELS)[
        "controls"
    ]

    before = grads.flat.copy()
    assert_agrees(np.array([norm]), clip_norm(grads, largest)[None])
    assert_agrees(factor * before, grads.flat)


def test_the_norm_of_more_numbers_than_the_threads_take_at_once():
    count = 4 * 256 * 512 + 1000
    grads = np.random.default_rng(0).standard_normal(count)
    partials = flat("partials", square_partials(count))
    sums = run(squared_sums(flat("grads", count), partials), {"grads": grads}, KERNELS)["partials"]
    assert partials.size == 512
    np.testing.assert_allclose(sums.sum(dtype=np.float64), grads @ grads, rtol=1e-5)


def test_a_gradient_that_is_not_finite_does_not_become_zero():
    partials, controls = flat("partials", 1), flat("controls", 8)
    given = {"partials": np.array([np.nan]), "controls": np.zeros(8)}
    assert np.isnan(run(clip(partials, controls, 1.0), given, KERNELS)["controls"]).all()
    given["partials"] = np.array([np.inf])
    factor, norm = run(clip(partials, controls, math.inf), given, KERNELS)["controls"]
    assert factor == 1 and np.isinf(norm)


@settings(max_examples=40)
@given(
    kind=st.sampled_from(["adamw", "adam", "sgd"]),
    shape=st.tuples(st.integers(1, 9), st.integers(1, 9), st.integers(4, 1100)),
    factor=st.sampled_from([1.0, 0.3]),
    seed=seeds(),
)
def test_updates_are_those_of_the_reference(kind, shape, factor, seed):
    rng = np.random.default_rng(seed)
    params = parameters(rng, *shape)
    count, lr, decay, momentum = params.count, 0.02, 0.1, 0.8
    optimizer = make_optimizer(kind, params, weight_decay=decay, momentum=momentum)
    betas, eps = (momentum, 0.0) if kind == "sgd" else optimizer.betas, getattr(optimizer, "eps", 0.0)
    names = ["params", *optimizer.state]
    memory = {
        name: array.astype(np.float32) for name, array in (optimizer.state | {"params": params.flat}).items()
    }

    launch = update(
        kind,
        *(flat(name, count) for name in ("params", "grads", "m")),
        None if kind == "sgd" else flat("v", count),
        flat("controls", 8),
        params.decayed,
        betas,
        eps,
        decay,
    )
    for step in (1, 2, 3):
        grads = params.zeros_like()
        grads.flat[:] = rng.standard_normal(count)
        given = memory | {"grads": grads.flat, "controls": np.zeros(8)}
        given["controls"][:4] = lr, 0, 0, factor
        if kind != "sgd":
            given["controls"][1:3] = lr / (1 - betas[0] ** step), 1 / math.sqrt(1 - betas[1] ** step)
        memory = run(launch, given, KERNELS)
        grads.flat *= factor
        optimizer.step(grads, lr, step)

    expected = optimizer.state | {"params": params.flat}
    for name in names:
        assert_agrees(memory[name], expected[name])


def test_an_update_counts_the_bytes_of_each_buffer():
    count = 1000
    buffers = [flat(name, count) for name in ("params", "grads", "m", "v")]
    launch = update("adamw", *buffers, flat("controls", 8), 0, (0.9, 0.999), 1e-8, 0.1)
    assert launch.bytes_moved == 28 * count + 16


def test_sgd_has_no_second_moment_and_adam_has():
    b = flat("b", 8)
    for kind, v in (("sgd", b), ("adam", None)):
        with pytest.raises(ValueError, match=kind):
            update(kind, b, b, b, v, b, 0, (0.9, 0.999), 1e-8, 0.0)


def test_buffers_that_do_not_start_at_a_vector_are_refused():
    with pytest.raises(ValueError, match="multiple of 4"):
        to_bf16(flat("x", 8).view(1, 4), flat("y", 4, "bfloat16"))


@pytest.mark.parametrize("count", [1, 4, 1027])
def test_bfloat16_copies_are_rounded_to_nearest(count):
    x = np.random.default_rng(count).standard_normal(count)
    result = run(to_bf16(flat("x", count), flat("y", count, "bfloat16")), {"x": x}, KERNELS)["y"]
    np.testing.assert_array_equal(result, rounded(x, "bfloat16"))
