"""The mean of patches, chosen ones, and their gradients: the kernels against tinyvit.ops."""

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.engine.cuda.cases import instances, normal, storage, widths
from tests.engine.cuda.run import assert_agrees, run
from tests.helpers import seeds
from tinyvit import ops
from tinyvit.engine.cuda.calls.readout import mean_pool, pool_backward, take_rows
from tinyvit.engine.cuda.launch import Buffer

KERNELS = instances("mean_pool", "take_rows", "pool_backward")
shapes = st.tuples(st.integers(1, 3), st.integers(1, 20), widths(300))  # images, patches, width
befores = st.sampled_from([0, 1, 3])


@settings(max_examples=40)
@given(shape=shapes, before=befores, dtype=storage(), seed=seeds())
def test_the_mean_is_that_of_the_reference(shape, before, dtype, seed):
    B, T, D = shape
    y = normal(np.random.default_rng(seed), dtype, B, before + T, D)
    launch = mean_pool(Buffer("y", y.shape, dtype), Buffer("pooled", (B, D), dtype), before)
    expected, _ = ops.mean_pool(y[:, before:].astype(np.float64))
    assert_agrees(run(launch, {"y": y}, KERNELS)["pooled"], expected, dtype, np.abs(y).mean())


@settings(max_examples=40)
@given(shape=shapes, before=befores, dtype=storage(), seed=seeds())
def test_the_gradient_is_that_of_the_reference(shape, before, dtype, seed):
    B, T, D = shape
    dpooled = normal(np.random.default_rng(seed), dtype, B, D)
    dy = Buffer("dy", (B, before + T, D), dtype)
    launch = pool_backward(Buffer("dpooled", dpooled.shape, dtype), None, dy, before)
    expected = np.zeros((B, before + T, D))
    expected[:, before:] = ops.mean_pool_backward(dpooled.astype(np.float64), shape)
    assert_agrees(run(launch, {"dpooled": dpooled}, KERNELS)["dy"], expected, dtype)


@settings(max_examples=40)
@given(
    shape=shapes, before=befores, share=st.sampled_from([None, 0.1, 0.5, 1.0]), dtype=storage(), seed=seeds()
)
def test_chosen_patches_and_their_gradient_are_those_of_the_reference(shape, before, share, dtype, seed):
    (B, T, D), rng = shape, np.random.default_rng(seed)
    order = rng.permuted(np.tile(np.arange(T), (B, 1)), axis=1)
    n = T if share is None else max(1, int(share * T))
    chosen = order[:, :n] if share else np.tile(np.arange(T), (B, 1))
    y, dtaken = normal(rng, dtype, B, before + T, D), normal(rng, dtype, B, n, D)
    whole, taken = Buffer("y", y.shape, dtype), Buffer("taken", dtaken.shape, dtype)
    launch = take_rows(whole, Buffer("chosen", chosen.shape, "int32") if share else None, taken, before)
    expected, cache = ops.row_pool(y, chosen + before)
    np.testing.assert_array_equal(run(launch, {"y": y, "chosen": chosen}, KERNELS)["taken"], expected)
    if share:
        places = Buffer("places", (B, T), "int32")
        launch = pool_backward(Buffer("dtaken", (B * n, D), dtype), places, whole, before)
        found = run(launch, {"dtaken": dtaken, "places": order.argsort(axis=1)}, KERNELS)["y"]
        np.testing.assert_array_equal(found, ops.row_pool_backward(dtaken, cache))
