"""The kernels of LayerNorm with the residual branch around it do what the operations do."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.engine.cuda.masks import make_mask
from tests.engine.cuda.run import assert_agrees, rounded, run
from tinyvit import ops
from tinyvit.engine.cuda.calls import layer_norm as calls
from tinyvit.engine.cuda.launch import Buffer

KINDS = (  # a type, and widths that have the same instance of the kernels: few to compile
    ("bfloat16", (1, 5, 31, 32)),
    ("bfloat16", (130, 190, 192)),
    ("float32", (68, 100, 128)),
    ("float32", (900, 1000)),
)
RATES = (None, (0.0, 0.0), (0.3, 0.0), (0.0, 0.5), (0.2, 0.4))
SHAPES = {
    "images": st.integers(1, 4),
    "tokens": st.integers(1, 6),
    "rates": st.sampled_from(RATES),
    "seed": st.integers(0, 2**32 - 1),
}
each_kind = pytest.mark.parametrize("kind", KINDS, ids=lambda kind: f"{kind[0]} {kind[1][-1]}")


def forward(dtype, R, D, mask=None, branch=True, branch_bias=True, every=1, **changes):
    """The forward's launch for buffers named as its arguments."""
    buffers = {
        "x": Buffer("x", (R * every, D), dtype),
        "branch": Buffer("branch", (R, D), dtype) if branch else None,
        "branch_bias": Buffer("branch_bias", (D,)) if branch and branch_bias else None,
        "mask": mask,
        "total": Buffer("total", (R, D), dtype) if branch else None,
        "weight": Buffer("weight", (D,)),
        "bias": Buffer("bias", (D,)),
        "y": Buffer("y", (R, D), dtype),
        "mean": Buffer("mean", (R,)),
        "r": Buffer("r", (R,)),
    }
    return calls.residual_layer_norm(**{**buffers, **changes}, every=every)


def backward(dtype, R, D, mask=None, skip=True, skip_every=1, **changes):
    """The backward's launch for buffers named as its arguments."""
    buffers = {
        "dy": Buffer("dy", (R, D), dtype),
        "x": Buffer("x", (R, D), dtype),
        "mean": Buffer("mean", (R,)),
        "r": Buffer("r", (R,)),
        "weight": Buffer("weight", (D,)),
        "skip": Buffer("skip", (-(-R // skip_every), D), dtype) if skip else None,
        "dx": Buffer("dx", (R, D), dtype),
        "mask": mask,
        "dbranch": Buffer("dbranch", (R, D), dtype) if mask else None,
        "partials": Buffer("partials", (calls.partial_rows(R), 3, D)),
    }
    return calls.layer_norm_backward(**{**buffers, **changes}, skip_every=skip_every)


FORWARDS = tuple(forward(dtype, 1, widths[0]).function for dtype, widths in KINDS)
BACKWARDS = tuple(backward(dtype, 1, widths[0]).function for dtype, widths in KINDS)


def forward_values(rng, dtype, R, D, every=1):
    """Values of the forward's inputs, as stored."""
    return {
        "x": rounded(rng.normal(0.5, 2, (R * every, D)), dtype),
        "branch": rounded(rng.normal(size=(R, D)), dtype),
        "branch_bias": rng.normal(size=D).astype(np.float32),
        "weight": rng.normal(1, 0.5, D).astype(np.float32),
        "bias": rng.normal(size=D).astype(np.float32),
    }


def backward_values(rng, dtype, R, D, skip_every=1):
    """Values of the backward's inputs, as stored; mean and r are those of x."""
    x = rounded(rng.normal(0.5, 2, (R, D)), dtype)
    exact = x.astype(np.float64)
    return {
        "dy": rounded(rng.normal(size=(R, D)), dtype),
        "x": x,
        "mean": exact.mean(axis=1),
        "r": 1 / np.sqrt(exact.var(axis=1) + 1e-6),
        "weight": rng.normal(1, 0.5, D).astype(np.float32),
        "skip": rounded(rng.normal(size=(-(-R // skip_every), D)), dtype),
    }


@each_kind
@settings(max_examples=15)
@given(data=st.data(), branch=st.booleans(), branch_bias=st.booleans(), every=st.integers(1, 3), **SHAPES)
def test_forward_is_the_residual_sum_and_then_layer_norm(
    kind, data, branch, branch_bias, every, images, tokens, rates, seed
):
    dtype, D, R = kind[0], data.draw(st.sampled_from(kind[1])), images * tokens
    mask, keys, m = make_mask(images, tokens, D, *rates) if rates else (None, None, 1)
    given = forward_values(np.random.default_rng(seed), dtype, R, D, every)
    launch = forward(dtype, R, D, mask, branch, branch_bias, every)
    found = run(launch, {**given, "keys": keys}, FORWARDS)

    total = given["x"][::every].astype(np.float64)
    if branch:
        total = total + m * (given["branch"] + branch_bias * given["branch_bias"])
        assert_agrees(found["total"], total, dtype)
        total = found["total"].astype(np.float64)  # LayerNorm reads it as it was stored
    y, (_, r, _) = ops.layer_norm(total, given["weight"], given["bias"])
    assert_agrees(found["y"], y, dtype)
    assert_agrees(found["mean"], total.mean(axis=1))
    assert_agrees(found["r"], r[:, 0])


@each_kind
@settings(max_examples=15)
@given(data=st.data(), skip=st.booleans(), skip_every=st.integers(1, 3), **SHAPES)
def test_backward_gives_the_gradients_of_the_rows_and_sums_of_the_columns(
    kind, data, skip, skip_every, images, tokens, rates, seed
):
    dtype, D, R = kind[0], data.draw(st.sampled_from(kind[1])), images * tokens
    mask, keys, m = make_mask(images, tokens, D, *rates) if rates else (None, None, 1)
    given = backward_values(np.random.default_rng(seed), dtype, R, D, skip_every)
    launch = backward(dtype, R, D, mask, skip, skip_every)
    found = run(launch, {**given, "keys": keys}, BACKWARDS)

    x, dy, weight = (given[name].astype(np.float64) for name in ("x", "dy", "weight"))
    _, cache = ops.layer_norm(x, weight, 0 * weight)
    dx, dweight, dbias = ops.layer_norm_backward(dy, cache)
    if skip:
        dx[::skip_every] += given["skip"]
    assert_agrees(found["dx"], dx, dtype)
    if mask:
        assert_agrees(found["dbranch"], m * dx, dtype)
    sums = found["partials"].sum(axis=0)  # (3, D)
    for found_sum, expected in zip(sums, (dweight, dbias, (m * dx).sum(axis=0)), strict=True):
        assert_agrees(found_sum, expected, scale=np.abs(dx).sum(axis=0).max())


def test_blocks_that_walk_over_many_rows_have_summed_all_of_them():
    R, D = 4500, 5  # more than 264 blocks of 16 rows
    given = backward_values(np.random.default_rng(0), "bfloat16", R, D)
    found = run(backward("bfloat16", R, D), given, BACKWARDS)
    assert found["partials"].shape == (264, 3, D)
    assert_agrees(found["partials"].sum(axis=0)[1], given["dy"].sum(axis=0, dtype=np.float64), scale=R)
    assert np.isfinite(found["dx"]).all()


def test_the_sum_may_take_the_place_of_its_first_term():
    rng = np.random.default_rng(1)
    R, D = 9, 100
    given, x = forward_values(rng, "float32", R, D), Buffer("x", (R, D))
    apart = run(forward("float32", R, D), given, FORWARDS)
    together = run(forward("float32", R, D, total=x), given, FORWARDS)
    np.testing.assert_array_equal(together["x"], apart["total"])
    np.testing.assert_array_equal(together["y"], apart["y"])

    given, skip = backward_values(rng, "float32", R, D), Buffer("skip", (R, D))
    apart = run(backward("float32", R, D), given, BACKWARDS)
    together = run(backward("float32", R, D, dx=skip), given, BACKWARDS)
    np.testing.assert_array_equal(together["skip"], apart["dx"])


def test_the_length_of_vectors_depends_on_width_and_place():
    def instance(D, start=0, dtype="float32"):
        weight = Buffer("params", (D,), start=start)
        return forward(dtype, 8, D, weight=weight).function.split("<")[1]

    assert instance(192) == "float, 32, 3, 2>"
    assert instance(192, start=1) == "float, 32, 6, 1>"
    assert instance(768, dtype="bfloat16") == "__nv_bfloat16, 32, 6, 4>"
    assert instance(1280, start=4) == "float, 64, 5, 4>"
    assert instance(767) == "float, 32, 24, 1>"
    assert instance(3072) == "float, 128, 6, 4>"


def test_there_are_as_many_blocks_as_run_at_the_same_time():
    assert calls.partial_rows(33_280) == 264
    assert calls.partial_rows(33_280, multiprocessors=108) == 216
    assert calls.partial_rows(10) == 3


def test_buffers_that_do_not_fit_are_refused():
    with pytest.raises(ValueError, match="3073 numbers, expected at most 3072"):
        forward("float32", 1, 3073)
    with pytest.raises(ValueError, match="give both or neither"):
        forward("float32", 1, 8, total=None)
    with pytest.raises(ValueError, match=r"expected \(P, 3, 8\)"):
        backward("float32", 8, 8, partials=Buffer("partials", (8, 8)))


def test_the_count_of_bytes_is_that_of_the_rows_used():
    # x, branch in, total, y out: 8 bytes for each of 6 * 10 numbers; 3 float vectors of 10; mean and r of 6
    assert forward("bfloat16", 6, 10, every=3).bytes_moved == 8 * 60 + 12 * 10 + 8 * 6
    # dy, x in, dx out, skip for every third row; weight; mean and r; 2 rows of 3 sums
    assert backward("bfloat16", 6, 10, skip_every=3).bytes_moved == 6 * 60 + 40 + 40 + 48 + 240
