"""Bias and tanh, and their gradients: the kernels against tinyvit.ops."""

import numpy as np
from hypothesis import example, given, settings
from hypothesis import strategies as st

from tests.engine.cuda.cases import instances, normal, storage, widths
from tests.engine.cuda.run import assert_agrees, run
from tests.helpers import seeds
from tinyvit import ops
from tinyvit.engine.cuda.calls.readout import bias_tanh, bias_tanh_backward, tanh_partials
from tinyvit.engine.cuda.launch import Buffer

KERNELS = instances("bias_tanh", "bias_tanh_backward")
shapes = st.tuples(st.sampled_from([1, 5, 130, 300]), widths(80))  # rows, width


@settings(max_examples=40)
@given(shape=shapes, dtype=storage(), seed=seeds())
def test_tanh_is_that_of_the_reference(shape, dtype, seed):
    rng = np.random.default_rng(seed)
    h, bias = normal(rng, dtype, *shape), normal(rng, "float32", shape[1])
    launch = bias_tanh(Buffer("h", shape, dtype), Buffer("bias", bias.shape), Buffer("y", shape, dtype))
    expected, _ = ops.tanh(h.astype(np.float64) + bias)
    assert_agrees(run(launch, {"h": h, "bias": bias}, KERNELS)["y"], expected, dtype, scale=1)


@settings(max_examples=40)
@example(shape=(1, 1), dtype="float32", seed=13947687)  # 1 - y^2 is 1e-4
@given(shape=shapes, dtype=storage(), seed=seeds())
def test_the_gradients_are_those_of_the_reference(shape, dtype, seed):
    rng = np.random.default_rng(seed)
    dy, h, bias = normal(rng, dtype, *shape), normal(rng, dtype, *shape), normal(rng, "float32", shape[1])
    launch = bias_tanh_backward(
        Buffer("dy", shape, dtype),
        Buffer("h", shape, dtype),
        Buffer("bias", bias.shape),
        Buffer("dh", shape, dtype),
        Buffer("partials", (tanh_partials(shape[0]), shape[1])),
    )
    results = run(launch, {"dy": dy, "h": h, "bias": bias}, KERNELS)
    expected = ops.tanh_backward(dy.astype(np.float64), np.tanh(h.astype(np.float64) + bias))
    # Where y is near 1, the two terms of dy (1 - y^2) cancel, in float32 whatever dh is stored as.
    terms = 2 * np.abs(dy.astype(np.float64))
    assert_agrees(results["dh"], expected, dtype, scale=terms.max() * {"float32": 1, "bfloat16": 1e-3}[dtype])
    assert_agrees(results["partials"].sum(axis=0), expected.sum(axis=0), scale=terms.sum(axis=0).max())
