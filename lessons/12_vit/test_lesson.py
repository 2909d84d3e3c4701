"""Checks of lesson 12."""

import numpy as np
import pytest

from lessons.referee import assert_gradient, assert_same, assert_trust, assert_untouched
from tinyvit.checking import numerical_gradient, random_params
from tinyvit.model import ViTConfig, preset
from tinyvit.model import backward as library_backward
from tinyvit.model import forward as library_forward

SIZES = {"patch_size": 2, "width": 4, "mlp_width": 9, "heads": 2, "layers": 3, "classes": 5}
TOKEN = ViTConfig((4, 6), **SIZES, eps=1e-3)  # not the default, so that it has to be handed on
FORMS = {
    "mean pooling": ViTConfig((6, 4), **SIZES, pool="mean"),
    "pre_logits of width 8": ViTConfig((4, 6), **SIZES, pre_logits=8),
    "mean pooling and pre_logits": ViTConfig((8, 2), **SIZES, pool="mean", pre_logits=8),
    "the other GELU, one block": ViTConfig((4, 6), **{**SIZES, "layers": 1}, gelu="exact"),
}
IMAGES = 3


def model(config, seed=0, dtype="float64"):
    """Random parameters, none of them 0 or 1, images, and a gradient of the logits."""
    rng = np.random.default_rng(seed)
    params = random_params(config, rng, dtype)
    images = rng.normal(size=(IMAGES, *config.image_size, 3)).astype(dtype)
    return params, images, rng.normal(size=(IMAGES, config.classes)).astype(dtype)


def run_forward(impl, config, params, images):
    """The two things that forward returns."""
    result = impl.forward(config, params, images)
    assert isinstance(result, tuple | list) and len(result) == 2, "forward returns two things: logits, cache"
    return result


@pytest.mark.hint("line by line: patches, token and position, L times a block, the last norm, the head")
def test_parameter_count(impl):
    for name, size, classes, expected in (
        ("b/16", 224, 1000, 86_567_656),
        ("ti/16", 224, 1000, 5_717_416),
        ("b/32", 384, 1000, 88_297_192),
        ("nano/4", 32, 10, 142_026),
        ("s/16", (64, 160), 7, 21_608_455),
    ):
        got = impl.parameter_count(preset(name, size, classes))
        assert got is not None, "parameter_count returns None: does it end with a return?"
        assert got == expected, (
            f"{name}, {size} pixels, {classes} classes: expected {expected:,}, got {got:,}"
        )


@pytest.mark.hint(
    "without a class token N is T and no token is learned; pre_logits puts a D to R layer before the head"
)
@pytest.mark.parametrize("form", FORMS)
def test_parameter_count_of_the_other_forms(impl, form):
    got, expected = impl.parameter_count(FORMS[form]), model(FORMS[form])[0].count
    assert got == expected, f"{form}: expected {expected:,}, got {got:,}"


@pytest.mark.hint("one image alone must give the same logits as in a batch: nothing here mixes images")
def test_images_do_not_influence_each_other(impl):
    params, images, _ = model(TOKEN, 4)
    logits, _ = run_forward(impl, TOKEN, params, images)
    alone, _ = run_forward(impl, TOKEN, params, images[1:2])
    assert_same(alone, logits[1:2], "the logits of the second image alone")


@pytest.mark.hint(
    "the class token comes first; position is added to all N tokens; a last norm, with config.eps, follows"
)
def test_logits(impl):
    params, images, _ = model(TOKEN, 3)
    logits, _ = run_forward(impl, TOKEN, params, images)
    expected, _ = library_forward(TOKEN, params, images)

    def right(*values):
        other = params.zeros_like()
        for name, value in zip(params, values, strict=True):
            other[name] = value
        return library_forward(TOKEN, other, images)[0]

    inputs = {name: params[name].copy() for name in params}
    assert_same(logits, expected, "the array of logits", of=right, inputs=inputs)


@pytest.mark.hint(
    "the mistake lies at the name shown or just above it on the way back; in the last block: which block "
    "goes first?"
)
def test_every_gradient(impl):
    params, images, dlogits = model(TOKEN, 5)
    _, cache = run_forward(impl, TOKEN, params, images)
    grads, pushed = params.zeros_like(), params.zeros_like()
    impl.backward(dlogits, cache, grads)
    pushed.flat[...] = numerical_gradient(
        lambda: (impl.forward(TOKEN, params, images)[0] * dlogits).sum(), params.flat
    )
    for name in reversed(list(params)):
        assert_gradient(grads[name], pushed[name], f"the gradient of {name}")


@pytest.mark.hint(
    "if not config.has_token: no class token, and mean_pool with its backward; if config.pre_logits: linear, "
    "then tanh, between pooling and head, and the slope of tanh is 1 - y^2"
)
@pytest.mark.parametrize("form", FORMS)
def test_the_other_forms(impl, form):
    config = FORMS[form]
    params, images, dlogits = model(config, 6)
    logits, cache = run_forward(impl, config, params, images)
    expected, library_cache = library_forward(config, params, images)
    assert_same(logits, expected, f"the array of logits with {form}")
    grads, right = params.zeros_like(), params.zeros_like()
    impl.backward(dlogits, cache, grads)
    library_backward(dlogits, library_cache, right)
    for name in reversed(list(params)):
        assert_same(grads[name], right[name], f"the gradient of {name} with {form}")


@pytest.mark.hint("grads.add(name, ...), not grads[name] = ...; and the cache stays as forward made it")
def test_gradients_are_added(impl):
    params, images, dlogits = model(TOKEN, 8)
    _, cache = run_forward(impl, TOKEN, params, images)
    once, onto_ones = params.zeros_like(), params.zeros_like()
    onto_ones.flat[...] = 1
    impl.backward(dlogits, cache, once)
    impl.backward(dlogits, cache, onto_ones)
    for name in params:
        assert_same(onto_ones[name], once[name] + 1, f"{name} in grads that held ones before")


@pytest.mark.hint(
    "everything that backward needs goes into the cache, the config too, and nothing into a global"
)
def test_two_models_at_once(impl):
    other = FORMS["the other GELU, one block"]
    params, images, dlogits = model(TOKEN, 9)
    _, cache = run_forward(impl, TOKEN, params, images)
    grads, right = params.zeros_like(), params.zeros_like()
    run_forward(impl, other, *model(other, 10)[:2])
    impl.backward(dlogits, cache, grads)
    library_backward(dlogits, library_forward(TOKEN, params, images)[1], right)
    assert_same(grads.flat, right.flat, "the gradients of a model, after the forward of another")


@pytest.mark.hint("make no float64 array on the way, and write x = x + ..., not x += ...")
def test_float32_stays_float32_and_inputs_stay_as_they_are(impl):
    params, images, dlogits = model(TOKEN, 11, "float32")
    arrays = [params.flat, images, dlogits]
    before = [array.copy() for array in arrays]
    logits, cache = run_forward(impl, TOKEN, params, images)
    assert logits.dtype == np.float32, f"the logits have dtype {logits.dtype}, expected float32"
    grads = params.zeros_like()
    impl.backward(dlogits, cache, grads)
    assert_untouched(before, arrays)
    right = params.zeros_like()
    library_backward(dlogits, library_forward(TOKEN, params, images)[1], right)
    assert_same(grads.flat, right.flat, "the gradients in float32", 1e-4)


def spoiled(spoil):
    """A pair whose backward is the right one, spoiled: spoil(dlogits, cache, gradients)."""

    def backward(dlogits, cache, grads):
        own = grads.zeros_like()
        library_backward(dlogits, cache, own)
        spoil(dlogits, cache, own)
        grads.flat += own.flat

    return library_forward, backward


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
    right, last = own.astype("float64"), cache.config.layers - 1
    for name in own:
        if name.startswith("blocks."):
            _, number, rest = name.split(".", 2)
            own[name] = right[f"blocks.{last - int(number)}.{rest}"]


def classes_alike(dlogits, cache, own):
    own.flat[...] = 0
    library_backward(dlogits.mean(axis=1, keepdims=True) + 0 * dlogits, cache, own)


def gain_taken_to_be_one(dlogits, cache, own):
    n, r, gain = cache.readout.features.norm
    features = cache.readout.features._replace(norm=(n, r, np.ones_like(gain)))
    own.flat[...] = 0
    library_backward(dlogits, cache._replace(readout=cache.readout._replace(features=features)), own)


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
    assert_trust(impl.trust_vit, (library_forward, library_backward), WRONG)


@pytest.mark.puzzle
@pytest.mark.hint("walk back through stem and patches; which tokens of the stem came from pixels at all?")
@pytest.mark.parametrize("form", ["class token", "mean pooling and pre_logits"])
def test_pixel_gradient(impl, form):
    config = {"class token": TOKEN, **FORMS}[form]
    params, images, dlogits = model(config, 12)
    before = [array.copy() for array in (params.flat, images, dlogits)]
    got = impl.pixel_gradient(config, params, images, dlogits)
    assert_untouched(before, [params.flat, images, dlogits])
    pushed = numerical_gradient(lambda: (library_forward(config, params, images)[0] * dlogits).sum(), images)
    assert_same(got, pushed, f"the gradient of the pixels, {form}", 1e-6)
    single = [array.astype("float32") for array in (params, images, dlogits)]
    got = impl.pixel_gradient(config, *single)
    assert got.dtype == np.float32, f"the gradient of the pixels has dtype {got.dtype}, expected float32"
