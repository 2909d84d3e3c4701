"""Checks of lesson 12."""

import numpy as np
import pytest

from lessons.referee import assert_gradient, assert_same, assert_untouched
from tinyvit.checking import numerical_gradient, random_params
from tinyvit.model import ViTConfig, preset
from tinyvit.model import backward as library_backward
from tinyvit.model import forward as library_forward

SMALL = {"patch_size": 4, "width": 6, "mlp_width": 7, "heads": 2, "layers": 2, "classes": 3}
TOKEN = ViTConfig((8, 4), **SMALL, eps=1e-3)  # not the default, so that it has to be handed on
MEAN = ViTConfig(8, **SMALL, pool="mean")
HIDDEN = ViTConfig(8, **SMALL, pre_logits=5)


def model(config, seed=0, dtype="float64"):
    """Random parameters, none of them 0 or 1, two images, and a gradient of the logits."""
    rng = np.random.default_rng(seed)
    params = random_params(config, rng, dtype)
    images = rng.normal(size=(2, *config.image_size, 3)).astype(dtype)
    return params, images, rng.normal(size=(2, config.classes)).astype(dtype)


def assert_like_the_library(impl, config, seed):
    """Logits and every gradient are those of the library."""
    params, images, dlogits = model(config, seed)
    logits, cache = impl.forward(config, params, images)
    expected, library_cache = library_forward(config, params, images)
    assert_same(logits, expected, "the array of logits")
    grads, right = params.zeros_like(), params.zeros_like()
    impl.backward(dlogits, cache, grads)
    library_backward(dlogits, library_cache, right)
    for name in reversed(list(params)):
        assert_same(grads[name], right[name], f"the gradient of {name}")


@pytest.mark.hint("line by line: patches, token and position, L times a block, the last norm, the head")
def test_parameter_count(impl):
    for name, size, classes, expected in (
        ("b/16", 224, 1000, 86_567_656),
        ("ti/16", 224, 1000, 5_717_416),
        ("b/32", 384, 1000, 88_297_192),
        ("nano/4", 32, 10, 142_026),
    ):
        got = impl.parameter_count(preset(name, size, classes))
        assert got == expected, (
            f"{name}, {size} pixels, {classes} classes: expected {expected:,}, got {got:,}"
        )


@pytest.mark.hint(
    "without a class token N is T and no token is learned; pre_logits puts a D to R layer before the head"
)
def test_parameter_count_of_the_other_forms(impl):
    for text, config, seed in (("mean pooling", MEAN, 1), ("pre_logits of width 5", HIDDEN, 2)):
        got, expected = impl.parameter_count(config), model(config, seed)[0].count
        assert got == expected, f"{text}: expected {expected:,}, got {got:,}"


@pytest.mark.hint(
    "the class token comes first; position is added to all N tokens; a last norm, with config.eps, follows"
)
def test_logits(impl):
    params, images, _ = model(TOKEN, 3)
    logits, _ = impl.forward(TOKEN, params, images)
    assert_same(logits, library_forward(TOKEN, params, images)[0], "the array of logits")


@pytest.mark.hint("one image alone must give the same logits as in a batch: nothing here mixes images")
def test_images_do_not_influence_each_other(impl):
    params, images, _ = model(TOKEN, 4)
    logits, _ = impl.forward(TOKEN, params, images)
    alone, _ = impl.forward(TOKEN, params, images[1:])
    assert_same(alone, logits[1:], "the logits of the second image alone")


@pytest.mark.hint(
    "the mistake lies at the name shown or just above it on the way back; in the last block: which block "
    "goes first?"
)
def test_every_gradient(impl):
    params, images, dlogits = model(TOKEN, 5)
    _, cache = impl.forward(TOKEN, params, images)
    grads, pushed = params.zeros_like(), params.zeros_like()
    impl.backward(dlogits, cache, grads)
    pushed.flat[...] = numerical_gradient(
        lambda: (impl.forward(TOKEN, params, images)[0] * dlogits).sum(), params.flat
    )
    for name in reversed(list(params)):
        assert_gradient(grads[name], pushed[name], f"the gradient of {name}")


@pytest.mark.hint("if not config.has_token: no class token, and mean_pool with its backward")
def test_mean_pooling(impl):
    assert_like_the_library(impl, MEAN, 6)


@pytest.mark.hint(
    "if config.pre_logits: linear, then tanh, between pooling and head; the slope of tanh is 1 - y^2"
)
def test_pre_logits(impl):
    assert_like_the_library(impl, HIDDEN, 7)


@pytest.mark.hint("grads.add(name, ...), not grads[name] = ...")
def test_gradients_are_added(impl):
    params, images, dlogits = model(TOKEN, 8)
    _, cache = impl.forward(TOKEN, params, images)
    once, onto_ones = params.zeros_like(), params.zeros_like()
    onto_ones.flat[...] = 1
    impl.backward(dlogits, cache, once)
    _, cache = impl.forward(TOKEN, params, images)
    impl.backward(dlogits, cache, onto_ones)
    for name in params:
        assert_same(onto_ones[name], once[name] + 1, f"{name} in grads that held ones before")


@pytest.mark.hint("make no float64 array on the way, and write x = x + ..., not x += ...")
def test_float32_stays_float32_and_inputs_stay_whole(impl):
    params, images, dlogits = model(TOKEN, 9, "float32")
    arrays = [params.flat, images, dlogits]
    before = [array.copy() for array in arrays]
    logits, cache = impl.forward(TOKEN, params, images)
    assert logits.dtype == np.float32, f"the logits have dtype {logits.dtype}, expected float32"
    impl.backward(dlogits, cache, params.zeros_like())
    assert_untouched(before, arrays)
