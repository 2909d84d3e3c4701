"""Loss, its gradient, and logits: the kernels against tinyvit.ops."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.engine.cuda.cases import C_TYPES, normal, storage
from tests.engine.cuda.run import assert_agrees, run
from tests.helpers import seeds
from tinyvit import ops
from tinyvit.engine.cuda.calls.loss import (
    add_bias,
    add_losses,
    cross_entropy,
    cross_entropy_partials,
)
from tinyvit.engine.cuda.launch import Buffer

KERNELS = (*(f"cross_entropy<{kind}>" for kind in C_TYPES.values()), "add_losses")
shapes = st.tuples(st.integers(1, 20), st.sampled_from([1, 2, 10, 33, 300]))  # images, classes


@settings(max_examples=40)
@given(
    shape=shapes,
    dtype=storage(),
    kind=st.sampled_from(["labels", "planned labels", "mixed labels", "probabilities"]),
    smoothing=st.sampled_from([0.0, 0.1]),
    share=st.sampled_from([1.0, 0.25]),
    seed=seeds(),
)
def test_loss_and_gradient_are_those_of_the_reference(shape, dtype, kind, smoothing, share, seed):
    rng = np.random.default_rng(seed)
    B, C = shape
    logits, bias = normal(rng, dtype, B, C) * 8, normal(rng, "float32", C)
    given, plan, mixing = {"logits": logits, "bias": bias}, None, None
    if kind == "probabilities":
        targets = rng.dirichlet(np.ones(C), B).astype(np.float32)
        given["targets"] = targets
    elif kind == "labels":
        given["targets"] = targets = rng.integers(0, C, B)
    elif kind == "mixed labels":
        given["targets"], plan = rng.integers(0, C, 30), Buffer("plan", (4, B + 1), "int32")
        given["plan"], shares = rng.integers(0, 30, (4, B + 1)), rng.random(B, np.float32)
        mixing, given["mixing"] = Buffer("mixing", (6, B), "int32"), np.tile(shares.view(np.int32), (6, 1))
        own = np.eye(C)[given["targets"][given["plan"][0]]]  # (B + 1, C)
        targets = (1 - shares[:, None]) * own[:-1] + shares[:, None] * own[1:]
    else:
        given["targets"], plan = rng.integers(0, C, 30), Buffer("plan", (4, B), "int32")
        given["plan"] = rng.integers(0, 30, (4, B))
        targets = given["targets"][given["plan"][0]]

    launch = cross_entropy(
        Buffer("logits", shape, dtype),
        Buffer("bias", (C,)),
        Buffer("targets", given["targets"].shape, "float32" if kind == "probabilities" else "int32"),
        plan,
        mixing,
        smoothing,
        share,
        Buffer("losses", (B,)),
        Buffer("dlogits", shape, dtype),
        Buffer("partials", (cross_entropy_partials(B), C)),
    )
    results = run(launch, given, KERNELS)
    loss, cache = ops.cross_entropy(logits.astype(np.float64) + bias, targets, smoothing)
    expected = ops.cross_entropy_backward(cache) * share
    assert abs(results["losses"].astype(np.float64).sum() - loss * share) <= 1e-5 * max(loss * share, 1 / B)
    # p - t cancels where the prediction is good: the error is relative to p and t, which are at most 1
    assert_agrees(results["dlogits"], expected, dtype, scale=share / B)
    sums = results["partials"].sum(axis=0, dtype=np.float64)
    assert_agrees(sums, expected.sum(axis=0), scale=share)


@settings(max_examples=15)
@given(patches=st.integers(1, 20), groups=st.integers(2, 5), dtype=storage(), seed=seeds())
def test_several_predictions_for_a_patch_have_a_bias_each(patches, groups, dtype, seed):
    rng, C = np.random.default_rng(seed), 33
    R, P = patches * groups, cross_entropy_partials(patches)
    logits, bias = normal(rng, dtype, R, C), normal(rng, "float32", groups * C)
    targets = rng.integers(0, C, R)
    launch = cross_entropy(
        Buffer("logits", (R, C), dtype),
        Buffer("bias", bias.shape),
        Buffer("targets", (R,), "int32"),
        None,
        None,
        0.0,
        0.5,
        Buffer("losses", (R,)),
        Buffer("dlogits", (R, C), dtype),
        Buffer("partials", (P, groups * C)),
    )
    results = run(launch, {"logits": logits, "bias": bias, "targets": targets}, KERNELS)
    whole = logits.reshape(patches, groups * C).astype(np.float64) + bias
    loss, cache = ops.cross_entropy(whole.reshape(R, C), targets)
    expected = ops.cross_entropy_backward(cache) * 0.5
    np.testing.assert_allclose(results["losses"].sum(dtype=np.float64), loss * 0.5, rtol=1e-5)
    assert_agrees(results["dlogits"], expected, dtype, scale=0.5 / R)
    assert_agrees(results["partials"].sum(axis=0), expected.reshape(patches, -1).sum(axis=0), scale=0.5)


def test_large_logits_do_not_overflow():
    launch = cross_entropy(
        Buffer("logits", (1, 2)),
        Buffer("bias", (2,)),
        Buffer("targets", (1,), "int32"),
        None,
        None,
        0.0,
        1.0,
        Buffer("losses", (1,)),
        Buffer("dlogits", (1, 2)),
        Buffer("partials", (1, 2)),
    )
    given = {"logits": np.array([1e4, -1e4]), "bias": np.zeros(2), "targets": np.array([1])}
    results = run(launch, given, KERNELS)
    assert results["losses"] == [2e4]
    np.testing.assert_array_equal(results["dlogits"], [[1, -1]])


def test_a_plan_does_not_choose_probabilities():
    b = Buffer("b", (2, 3))
    with pytest.raises(ValueError, match="probabilities"):
        cross_entropy(b, b, b, Buffer("plan", (4, 2), "int32"), None, 0.0, 1.0, b, b, b)


@pytest.mark.parametrize("count", [1, 256, 700])
def test_losses_are_added_up(count):
    losses = np.random.default_rng(count).random(count, np.float32)
    given = {"losses": losses, "loss": np.array([2.5])}
    for accumulate in (False, True):
        launch = add_losses(Buffer("losses", (count,)), Buffer("loss", (1,)), accumulate)
        expected = losses.sum(dtype=np.float64) + 2.5 * accumulate
        np.testing.assert_allclose(run(launch, given, KERNELS)["loss"], [expected], rtol=1e-6)


@settings(max_examples=6)
@given(shape=st.tuples(st.integers(1, 40), st.integers(1, 30)), dtype=storage(), seed=seeds())
def test_logits_for_predictions_have_their_bias(shape, dtype, seed):
    rng = np.random.default_rng(seed)
    logits, bias = normal(rng, dtype, *shape), normal(rng, "float32", shape[1])
    launch = add_bias(Buffer("logits", shape, dtype), Buffer("bias", bias.shape), Buffer("out", shape))
    kernels = tuple(f"add_bias<{kind}>" for kind in C_TYPES.values())
    np.testing.assert_array_equal(
        run(launch, {"logits": logits, "bias": bias}, kernels)["out"], logits + bias
    )
