"""The mean of tokens and its gradient: the kernels against tinyvit.ops."""

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.engine.cuda.cases import instances, normal, storage, widths
from tests.engine.cuda.run import assert_agrees, run
from tests.helpers import seeds
from tinyvit import ops
from tinyvit.engine.cuda.calls.readout import mean_pool, mean_pool_backward
from tinyvit.engine.cuda.launch import Buffer

KERNELS = instances("mean_pool", "mean_pool_backward")
shapes = st.tuples(st.integers(1, 3), st.integers(1, 20), widths(300))  # images, tokens, width


@settings(max_examples=40)
@given(shape=shapes, dtype=storage(), seed=seeds())
def test_the_mean_is_that_of_the_reference(shape, dtype, seed):
    y = normal(np.random.default_rng(seed), dtype, *shape)
    launch = mean_pool(Buffer("y", shape, dtype), Buffer("pooled", (shape[0], shape[2]), dtype))
    expected, _ = ops.mean_pool(y.astype(np.float64))
    assert_agrees(run(launch, {"y": y}, KERNELS)["pooled"], expected, dtype, np.abs(y).mean())


@settings(max_examples=40)
@given(shape=shapes, dtype=storage(), seed=seeds())
def test_the_gradient_is_that_of_the_reference(shape, dtype, seed):
    dpooled = normal(np.random.default_rng(seed), dtype, shape[0], shape[2])
    launch = mean_pool_backward(Buffer("dpooled", dpooled.shape, dtype), Buffer("dy", shape, dtype))
    expected = ops.mean_pool_backward(dpooled.astype(np.float64), shape)
    assert_agrees(run(launch, {"dpooled": dpooled}, KERNELS)["dy"], expected, dtype)
