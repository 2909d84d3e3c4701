"""The kernels of bias, GELU and dropout do what the operations do."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.engine.cuda.masks import make_mask
from tests.engine.cuda.run import assert_agrees, rounded, run
from tinyvit import ops
from tinyvit.engine.cuda.calls import gelu as calls
from tinyvit.engine.cuda.launch import Buffer

WIDTHS = {("bfloat16", "tanh"): (8, 40, 264), ("float32", "exact"): (1, 7, 33)}  # one instance for each line


def launches(dtype, form, R, M, mask=None):
    """Forward and backward for buffers named as the arguments."""
    h, bias, g, dg, dh = (Buffer(name, (R, M), dtype) for name in ("h", "bias", "g", "dg", "dh"))
    bias = Buffer("bias", (M,))
    partials = Buffer("partials", (calls.partial_rows(R, M, dtype), M))
    return (
        calls.bias_gelu(h, bias, mask, g, form),
        calls.bias_gelu_backward(dg, h, bias, mask, dh, partials, form),
    )


FUNCTIONS = tuple(launch.function for kind in WIDTHS for launch in launches(*kind, 1, WIDTHS[kind][0]))


@pytest.mark.parametrize("kind", sorted(WIDTHS))
@settings(max_examples=15)
@given(
    width=st.integers(0, 2),
    images=st.integers(1, 4),
    tokens=st.integers(1, 9),
    rates=st.sampled_from((None, (0.0, 0.0), (0.3, 0.0), (0.2, 0.4))),
    seed=st.integers(0, 2**32 - 1),
)
def test_forward_and_backward_agree_with_the_operations(kind, width, images, tokens, rates, seed):
    (dtype, form), R, M = kind, images * tokens, WIDTHS[kind][width]
    rng = np.random.default_rng(seed)
    mask, keys, m = make_mask(images, tokens, M, *rates) if rates else (None, None, 1)
    given = {
        "h": rounded(rng.normal(0, 3, (R, M)), dtype),
        "bias": rng.normal(size=M).astype(np.float32),
        "dg": rounded(rng.normal(size=(R, M)), dtype),
        "keys": keys,
    }
    forward, backward = launches(dtype, form, R, M, mask)
    found = {**run(forward, given, FUNCTIONS), **run(backward, given, FUNCTIONS)}

    x = given["h"].astype(np.float64) + given["bias"]
    y, cache = ops.gelu(x, form)
    dx = ops.gelu_backward(m * given["dg"].astype(np.float64), cache)
    # Far below 0, y and its slope vanish, and are as exact as x and dg allow: 1 + erf(x) cancels there.
    sizes = np.abs(given["dg"])
    assert_agrees(found["g"], m * y, dtype, scale=np.abs(x).max())
    assert_agrees(found["dh"], dx, dtype, scale=sizes.max())
    assert_agrees(found["partials"].sum(axis=0), dx.sum(axis=0), scale=sizes.sum(axis=0).max())


@pytest.mark.parametrize("kind", sorted(WIDTHS))
def test_large_inputs_neither_overflow_nor_leave_the_axis(kind):
    M = WIDTHS[kind][1]
    h = np.resize([-1e15, -300, -90, -20, 20, 90, 300, 1e15], (3, M))
    forward, backward = launches(*kind, 3, M)
    given = {"h": h, "bias": np.zeros(M), "dg": np.ones((3, M))}
    found = {**run(forward, given, FUNCTIONS), **run(backward, given, FUNCTIONS)}
    np.testing.assert_allclose(found["g"], np.maximum(rounded(h, kind[0]), 0), atol=1e-6)
    np.testing.assert_allclose(found["dh"], h > 0, atol=1e-6)


def test_many_rows_are_shared_by_few_blocks():
    R, M = 9000, 1  # 528 blocks of 8 rows are fewer
    given = {"h": np.linspace(-4, 4, R), "bias": np.zeros(M), "dg": np.ones(R)}
    launch = launches("float32", "exact", R, M)[1]
    found = run(launch, given, FUNCTIONS)
    assert launch.grid == (1, 528)
    assert np.isfinite(found["dh"]).all()
    assert_agrees(found["partials"].sum(axis=0), found["dh"].sum(axis=0, dtype=np.float64), scale=R)


def test_vectors_are_as_long_as_width_and_place_allow():
    def vector(M, start, dtype):
        h = Buffer("h", (4, M), dtype, start)
        bias, g = Buffer("bias", (M,)), Buffer("g", (4, M), dtype)
        return calls.bias_gelu(h, bias, None, g, "tanh").function.split(", ")[2]

    assert vector(768, 0, "bfloat16") == "8>"
    assert vector(768, 0, "float32") == "4>"
    assert vector(768, 2, "bfloat16") == "2>"
    assert vector(765, 0, "bfloat16") == "1>"


def test_partial_sums_of_the_wrong_shape_are_refused():
    h, bias = Buffer("h", (16, 8)), Buffer("bias", (8,))
    with pytest.raises(ValueError, match=r"expected \(P, 8\)"):
        calls.bias_gelu_backward(h, h, bias, None, h, Buffer("partials", (8, 3, 8)), "tanh")
