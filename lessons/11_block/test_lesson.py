"""Checks of lesson 11."""

import importlib

import numpy as np
import pytest

from lessons.referee import assert_exposed, assert_gradients, assert_operation, assert_same, assert_untouched
from lessons.referee.gradients import several
from tinyvit.model import Params, ViTConfig, layout
from tinyvit.model.block import block as library_block
from tinyvit.ops import attention, layer_norm, mlp

SUSPECTS = importlib.import_module("lessons.11_block.suspects").SUSPECTS
HEADS = 3
CONFIG = ViTConfig(image_size=4, patch_size=2, width=6, mlp_width=7, heads=HEADS, layers=1, classes=4)
SHAPES = {
    row.name.removeprefix("blocks.0."): row.shape for row in layout(CONFIG) if row.name.startswith("blocks.")
}
BACKWARD = {
    "dx": "equation 3 at both additions: dx' = dy + branch, and from there on dx' takes the part of dy",
    "count": "block returns y and a cache; block_backward returns dx and one dict",
    "inplace": "write x = x + a, not x += a; and dx = dy + branch, not dy += branch",
    "cache": "the backward must leave the cache as it is",
    "dtype": "make no float64 array on the way",
}


def inputs(seed=0, batch=2, tokens=5):
    """Tokens and the twelve parameters: gains that are not 1, biases that are not 0."""
    rng = np.random.default_rng(seed)
    arrays = {"x": rng.normal(0.5, 1.5, (batch, tokens, 6))}
    for name, shape in SHAPES.items():
        is_gain = name in ("norm1.weight", "norm2.weight")
        arrays[name] = rng.normal(1 if is_gain else 0, 0.5, shape)
    return arrays


def forward(impl, heads=HEADS):
    """The answer's block as a function of x and the twelve parameters."""

    def run(x, *values):
        return several(impl.block, ("y", "a cache"), x, dict(zip(SHAPES, values, strict=True)), heads)

    return run


def in_order(backward, *arguments):
    """dx and the gradients of a dict, as a backward returns them, in the order of forward's arguments."""
    dx, grads = several(backward, ("dx", "a dict of gradients"), *arguments)
    assert isinstance(grads, dict), f"the second result is a {type(grads).__name__}, expected a dict"
    missing = [name for name in SHAPES if name not in grads]
    assert not missing, f"no gradient for {', '.join(missing)}"
    return dx, *(grads[name] for name in SHAPES)


def backward(impl):
    """The answer's gradients, in the order of forward's arguments."""
    return lambda dy, cache: in_order(impl.block_backward, dy, cache)


@pytest.mark.hint(
    "what is added to a branch is the stream as it was before the branch's LayerNorm",
    **{"dx with branches of zeros": "at both additions, dy goes past the branch as well as through it"},
)
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
    "x' = x + attention(layer_norm(x)), then y = x' + mlp(layer_norm(x')): both norms stand in the branches"
)
@pytest.mark.parametrize("heads", [3, 2])
def test_values(impl, heads):
    arrays = inputs(1)
    y, _ = forward(impl, heads)(*(array.copy() for array in arrays.values()))
    config = ViTConfig(4, 2, width=6, mlp_width=7, heads=heads, layers=1, classes=4)
    params = Params.zeros(layout(config), "float64")

    def right(x, *values):
        for name, value in zip(SHAPES, values, strict=True):
            params["blocks.0." + name] = value
        return library_block(config, params, 0, x)[0]

    assert_same(y, right(*arrays.values()), "y", of=right, inputs=arrays)


@pytest.mark.hint(
    "if dx is wrong too: equation 3 holds at both additions; if not, look at the name, and at the order in "
    "which the backwards return their gradients",
    **BACKWARD,
)
def test_backward(impl):
    cases = {"two images": inputs(5), "one image of one token": inputs(6, batch=1, tokens=1)}
    assert_operation(forward(impl), backward(impl), cases)


@pytest.mark.hint(
    "read the parameters by their names, params['norm1.weight'], not by their order in the dict"
)
def test_the_order_of_the_dict_does_not_matter(impl):
    arrays = inputs(7)
    x = arrays.pop("x")
    expected, _ = impl.block(x, dict(arrays), HEADS)
    exchanged = {"norm1.weight": "norm2.weight", "norm1.bias": "norm2.bias"}
    exchanged |= {second: first for first, second in exchanged.items()}
    order = [exchanged.get(name, name) for name in arrays]  # norm2's first, and every shape still fits
    turned = {name: arrays[name] for name in order}
    y, cache = impl.block(x, turned, HEADS)
    assert_same(y, expected, "y with the parameters in another order")
    assert list(turned) == order, "block changed the dict it was given"
    dy = np.random.default_rng(8).normal(size=x.shape)
    results = in_order(impl.block_backward, dy, cache)
    first = in_order(impl.block_backward, dy, impl.block(x, arrays, HEADS)[1])
    for name, got, want in zip(["dx", *SHAPES], results, first, strict=True):
        assert_same(got, want, f"{name} with the parameters in another order")


@pytest.mark.hint("all that the backward needs goes into the cache that block returns, nothing into a global")
def test_a_stack_of_blocks(impl):
    lower, upper = inputs(9), inputs(10)
    x = lower.pop("x")
    upper.pop("x")

    def stack(x):
        middle, first = impl.block(x, lower, HEADS)
        y, second = impl.block(middle, upper, HEADS)
        return y, (first, second)

    def stack_backward(dy, cache):
        return impl.block_backward(impl.block_backward(dy, cache[1])[0], cache[0])[0]

    assert_gradients(stack, stack_backward, {"x": x})
    y, (first, second) = stack(x)
    dmiddle, of_upper = impl.block_backward(np.ones_like(y), second)
    kept = {name: gradient.copy() for name, gradient in of_upper.items()}
    impl.block_backward(dmiddle, first)
    for name in SHAPES:
        assert_same(of_upper[name], kept[name], f"d{name} of the upper block, after the lower one's backward")


@pytest.mark.hint(
    "central differences on random x, a and c for each suspect",
    inputs="a branch that adds nothing hides it: what must not be zero?",
)
def test_guilty_block(impl):
    assert_exposed(impl.guilty_block(), SUSPECTS)


@pytest.mark.puzzle
@pytest.mark.hint("x' = LayerNorm(x + attention(x)): norm1 belongs to the attention, norm2 to the MLP")
def test_post_norm_values(impl):
    arrays = inputs(11)
    x = arrays.pop("x")
    p = list(arrays.values())
    backwards = dict(reversed(arrays.items()))
    for heads in (3, 2):
        middle = layer_norm(x + attention(x, *p[2:6], heads)[0], *p[:2])[0]
        right = layer_norm(middle + mlp(middle, *p[8:])[0], *p[6:8])[0]
        given = x.copy()
        y, _ = several(impl.post_norm_block, ("y", "a function"), given, backwards, heads)
        assert_untouched([x], [given], ["x"])
        assert_same(y, right, f"y of the post-norm block with {heads} heads")


@pytest.mark.puzzle
@pytest.mark.hint(
    "from the back: the norm first, then its gradient arrives at a plus sign",
    dx="where does the straight path begin and end?",
)
def test_post_norm_backward(impl):
    assert_operation(
        lambda x, *values: impl.post_norm_block(x, dict(zip(SHAPES, values, strict=True)), HEADS),
        lambda dy, back: in_order(back, dy),
        {"three images": inputs(12, batch=3, tokens=4)},
    )
