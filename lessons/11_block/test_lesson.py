"""Checks of lesson 11."""

import numpy as np
import pytest

from lessons.referee import assert_gradients, assert_same, assert_untouched
from tinyvit.model import Params, ViTConfig, layout
from tinyvit.model.block import block as library_block

CONFIG = ViTConfig(image_size=4, patch_size=2, width=6, mlp_width=7, heads=2, layers=1, classes=3)
SHAPES = {
    row.name.removeprefix("blocks.0."): row.shape for row in layout(CONFIG) if row.name.startswith("blocks.")
}


def inputs(seed=0):
    """Tokens and the twelve parameters: gains that are not 1, biases that are not 0."""
    rng = np.random.default_rng(seed)
    arrays = {"x": rng.normal(0.5, 1.5, (2, 3, 6))}
    for name, shape in SHAPES.items():
        is_gain = name in ("norm1.weight", "norm2.weight")
        arrays[name] = rng.normal(1 if is_gain else 0, 0.5, shape)
    return arrays


def forward(impl):
    """The answer's block as a function of x and the twelve parameters."""
    return lambda x, *values: impl.block(x, dict(zip(SHAPES, values, strict=True)), 2)


def backward(impl):
    """The answer's gradients, in the order of forward's arguments."""

    def in_order(dy, cache):
        dx, grads = impl.block_backward(dy, cache)
        assert isinstance(grads, dict), f"the second result is a {type(grads).__name__}, expected a dict"
        missing = [name for name in SHAPES if name not in grads]
        assert not missing, f"no gradient for {', '.join(missing)}"
        return dx, *(grads[name] for name in SHAPES)

    return in_order


@pytest.mark.hint(
    "x' = x + attention(layer_norm(x)), then y = x' + mlp(layer_norm(x')): both norms stand in the branches"
)
def test_values(impl):
    arrays = inputs(1)
    y, _ = forward(impl)(*arrays.values())
    params = Params.zeros(layout(CONFIG), "float64")
    for name in SHAPES:
        params["blocks.0." + name] = arrays[name]
    assert_same(y, library_block(CONFIG, params, 0, arrays["x"])[0], "y")


@pytest.mark.hint("what is added to a branch is the stream as it was before the branch's LayerNorm")
def test_branches_of_zeros_leave_the_stream_as_it_is(impl):
    arrays = inputs(2)
    for name in ("attn.out.weight", "attn.out.bias", "mlp.fc2.weight", "mlp.fc2.bias"):
        arrays[name][...] = 0
    x = arrays["x"].copy()
    y, cache = forward(impl)(*arrays.values())
    assert_same(y, x, "y with branches of zeros")
    dy = np.random.default_rng(3).normal(size=x.shape)
    dx, *_ = backward(impl)(dy, cache)
    assert_same(dx, dy, "dx with branches of zeros")


@pytest.mark.hint("with an MLP of zeros y is x', which contains the attention's work")
def test_the_second_branch_is_added_to_the_result_of_the_first(impl):
    arrays = inputs(4)
    for name in ("mlp.fc2.weight", "mlp.fc2.bias"):
        arrays[name][...] = 0
    x = arrays["x"].copy()
    y, _ = forward(impl)(*arrays.values())
    assert np.abs(y - x).max() > 1e-6, "y is x although the attention is not zero: x' is lost"


@pytest.mark.hint(
    "equation 3 at both additions: dx' = dy + branch, and from there on dx' takes the place of dy. If dx is "
    "right and a parameter's gradient is not: its name, and the order in which the backwards return them"
)
def test_backward(impl):
    assert_gradients(forward(impl), backward(impl), inputs(5))


@pytest.mark.hint("write x = x + a, not x += a; and dx = dy + branch, not dy += branch")
def test_float32_stays_float32_and_inputs_stay_whole(impl):
    arrays = [array.astype(np.float32) for array in inputs(6).values()]
    before = [array.copy() for array in arrays]
    y, cache = forward(impl)(*arrays)
    assert y.dtype == np.float32, f"y has dtype {y.dtype}, expected float32"
    dy = np.ones_like(y)
    for name, gradient in zip(["x", *SHAPES], backward(impl)(dy, cache), strict=True):
        assert gradient.dtype == np.float32, f"d{name} has dtype {gradient.dtype}, expected float32"
    assert_untouched([*before, np.ones_like(y)], [*arrays, dy])
