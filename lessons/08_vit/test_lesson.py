"""Checks of lesson 8."""

import numpy as np
import pytest

from lessons.referee import (
    assert_gradient,
    assert_gradients,
    assert_operation,
    assert_same,
    assert_trust,
    assert_untouched,
)
from lessons.referee.gradients import several
from tinyvit.gradcheck import numerical_gradient, random_params
from tinyvit.model import Params, ViTConfig, layout
from tinyvit.model import backward as library_backward
from tinyvit.model import forward as library_forward
from tinyvit.model.block import block as library_block
from tinyvit.ops import attention, layer_norm, mlp

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
        return library_block(params, "blocks.0", x, config.heads, config.gelu, config.eps)[0]

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


# The whole model

SIZES = {"patch_size": 2, "width": 4, "mlp_width": 9, "heads": 2, "classes": 5}
SMALL = ViTConfig((4, 6), **SIZES, layers=3)
OTHER = ViTConfig((6, 3), **SIZES | {"patch_size": 3, "heads": 1}, layers=1)
IMAGES = 3


def model(config, seed=0, dtype="float64"):
    """Random parameters, none of them 0 or 1, images, and a gradient of the logits."""
    rng = np.random.default_rng(seed)
    params = random_params(config, rng, dtype)
    images = rng.normal(size=(IMAGES, *config.image_size, 3)).astype(dtype)
    return params, images, rng.normal(size=(IMAGES, config.classes)).astype(dtype)


def run_forward(impl, config, params, images):
    """The two things that forward returns."""
    return several(impl.forward, ("logits", "a cache"), config, dict(params), images)


def run_backward(impl, dlogits, cache, params):
    """The gradients that backward returns, with one for each parameter."""
    grads = impl.backward(dlogits, cache)
    assert isinstance(grads, dict), f"backward returns a {type(grads).__name__}, expected a dict of gradients"
    missing = [name for name in params if name not in grads]
    assert not missing, f"no gradient for {', '.join(missing)}"
    return grads


def library_gradients(config, params, images, dlogits):
    """The gradients of the library's backward."""
    grads = params.zeros_like()
    library_backward(dlogits, library_forward(config, params, images)[1], grads)
    return grads


@pytest.mark.hint("one image alone must give the same logits as in a batch: nothing here mixes images")
def test_images_do_not_influence_each_other(impl):
    params, images, _ = model(SMALL, 4)
    logits, _ = run_forward(impl, SMALL, params, images)
    alone, _ = run_forward(impl, SMALL, params, images[1:2])
    assert_same(alone, logits[1:2], "the logits of the second image alone")


@pytest.mark.hint(
    "the class token comes first; position is added to all N tokens; a last norm follows; then row 0"
)
@pytest.mark.parametrize("config", [SMALL, OTHER], ids=["three blocks", "one block, P = 3"])
def test_logits(impl, config):
    params, images, _ = model(config, 3)
    logits, _ = run_forward(impl, config, params, images)
    expected, _ = library_forward(config, params, images)

    def right(*values):
        other = params.zeros_like()
        for name, value in zip(params, values, strict=True):
            other[name] = value
        return library_forward(config, other, images)[0]

    inputs = {name: params[name].copy() for name in params}
    assert_same(logits, expected, "the array of logits", of=right, inputs=inputs)


@pytest.mark.hint(
    "the mistake lies at the name shown or just above it on the way back; in the last block: which block "
    "goes first?"
)
def test_every_gradient(impl):
    params, images, dlogits = model(SMALL, 5)
    _, cache = run_forward(impl, SMALL, params, images)
    grads, pushed = run_backward(impl, dlogits, cache, params), params.zeros_like()
    pushed.flat[...] = numerical_gradient(
        lambda: (impl.forward(SMALL, params, images)[0] * dlogits).sum(), params.flat
    )
    for name in reversed(list(params)):
        assert_gradient(grads[name], pushed[name], f"the gradient of {name}")


@pytest.mark.hint("the cache stays as forward made it, so a second walk back gives the same gradients")
def test_the_cache_stays_as_it_is(impl):
    params, images, dlogits = model(SMALL, 8)
    _, cache = run_forward(impl, SMALL, params, images)
    once = {name: grad.copy() for name, grad in run_backward(impl, dlogits, cache, params).items()}
    again = run_backward(impl, dlogits, cache, params)
    for name in params:
        assert_same(again[name], once[name], f"the gradient of {name} in a second backward")


@pytest.mark.hint("everything that backward needs goes into the cache, and nothing into a global")
def test_two_models_at_once(impl):
    params, images, dlogits = model(SMALL, 9)
    _, cache = run_forward(impl, SMALL, params, images)
    run_forward(impl, OTHER, *model(OTHER, 10)[:2])
    grads = run_backward(impl, dlogits, cache, params)
    right = library_gradients(SMALL, params, images, dlogits)
    for name in reversed(list(params)):
        assert_same(grads[name], right[name], f"the gradient of {name}, after the forward of another model")


@pytest.mark.hint("make no float64 array on the way, and write x = x + ..., not x += ...")
def test_float32_stays_float32_and_inputs_stay_as_they_are(impl):
    params, images, dlogits = model(SMALL, 11, "float32")
    arrays = [params.flat, images, dlogits]
    before = [array.copy() for array in arrays]
    logits, cache = run_forward(impl, SMALL, params, images)
    assert logits.dtype == np.float32, f"the logits have dtype {logits.dtype}, expected float32"
    grads = run_backward(impl, dlogits, cache, params)
    assert_untouched(before, arrays)
    right = library_gradients(SMALL, params, images, dlogits)
    for name in reversed(list(params)):
        assert_same(grads[name], right[name], f"the gradient of {name}", 1e-4)


def as_params(config, named):
    """The library's parameters with the values of a dict."""
    params = Params.zeros(layout(config), "float64")
    for name in params:
        params[name] = named[name]
    return params


def right_forward(config, params, images):
    """The library's forward, which takes its own kind of parameters."""
    logits, cache = library_forward(config, as_params(config, params), images)
    return logits, (config, cache)


def right_backward(dlogits, cache):
    """The library's backward, whose gradients go into a dict."""
    own = Params.zeros(layout(cache[0]), "float64")
    library_backward(dlogits, cache[1], own)
    return dict(own)


def spoiled(spoil):
    """A pair whose backward is the right one, spoiled: spoil(dlogits, cache, gradients)."""

    def backward(dlogits, cache):
        config, cache = cache
        own = Params.zeros(layout(config), "float64")
        library_backward(dlogits, cache, own)
        spoil(dlogits, cache, own)
        return dict(own)

    return right_forward, backward


def head_alone(dlogits, cache, own):
    for name in own:
        if not name.startswith("head"):
            own[name][...] = 0


def token_of_the_first_image(dlogits, cache, own):
    first = own.zeros_like()
    others_silent = dlogits * (np.arange(len(dlogits)) == 0)[:, None]
    library_backward(others_silent, cache, first)
    own["class_token"] = first["class_token"]


def blocks_exchanged(dlogits, cache, own):
    right = own.astype("float64")
    last = sum(stage.name.startswith("blocks.") for stage in cache.stages) - 1
    for name in own:
        if name.startswith("blocks."):
            _, number, rest = name.split(".", 2)
            own[name] = right[f"blocks.{last - int(number)}.{rest}"]


def classes_alike(dlogits, cache, own):
    own.flat[...] = 0
    library_backward(dlogits.mean(axis=1, keepdims=True) + 0 * dlogits, cache, own)


def gain_taken_to_be_one(dlogits, cache, own):
    names = [stage.name for stage in cache.stages]
    caches = list(cache.caches)
    n, r, gain = caches[names.index("norm")]
    caches[names.index("norm")] = n, r, np.ones_like(gain)
    own.flat[...] = 0
    library_backward(dlogits, cache._replace(caches=caches), own)


WRONG = {
    "only the head gets gradients": spoiled(head_alone),
    "the class token hears of the first image only": spoiled(token_of_the_first_image),
    "the blocks' gradients in reverse order": spoiled(blocks_exchanged),
    "the same gradient for all classes": spoiled(classes_alike),
    "the last norm's gain taken to be 1": spoiled(gain_taken_to_be_one),
}


@pytest.mark.hint(
    "random_params, at least two images, two blocks, and a random dlogits",
    **{
        "only the head gets gradients": "with a fresh head, which is zero, nothing else has a gradient",
        "the class token hears of the first image only": "with a single image this is right",
        "the blocks' gradients in reverse order": "with a single block this is right",
        "the same gradient for all classes": "if dlogits is all ones, this is right",
        "the last norm's gain taken to be 1": "in a fresh model this is right",
        "right": "float64, a push of about 1e-5 along a direction of norm 1, and an error that is relative",
    },
)
def test_trust_vit(impl):
    assert_trust(impl.trust_vit, (right_forward, right_backward), WRONG)


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


@pytest.mark.puzzle
@pytest.mark.hint("walk back through stem and patches; which tokens of the stem came from pixels at all?")
def test_pixel_gradient(impl):
    params, images, dlogits = model(SMALL, 12)
    before = [array.copy() for array in (params.flat, images, dlogits)]
    got = impl.pixel_gradient(SMALL, dict(params), images, dlogits)
    assert_untouched(before, [params.flat, images, dlogits])
    pushed = numerical_gradient(lambda: (library_forward(SMALL, params, images)[0] * dlogits).sum(), images)
    assert_same(got, pushed, "the gradient of the pixels", 1e-6)
    single = [array.astype("float32") for array in (params, images, dlogits)]
    got = impl.pixel_gradient(SMALL, dict(single[0]), *single[1:])
    assert got.dtype == np.float32, f"the gradient of the pixels has dtype {got.dtype}, expected float32"
