"""Without a backward pass to come, nothing is kept for it: the answers stay the same to the bit."""

import tracemalloc

import numpy as np
import pytest

from tests.helpers import random_batch, tiny_config
from tinyvit.gradcheck import random_params
from tinyvit.model import features, forward, infer

KINDS = {
    "class token": {},
    "mean pooling": {"pool": "mean"},
    "pre_logits, exact GELU": {"pre_logits": 7, "gelu": "exact"},
    "dropout, which acts in training alone": {"dropout": 0.3, "attention_dropout": 0.3, "drop_path": 0.3},
    "one layer": {"layers": 1},
}


def draw(config, dtype="float64", count=4):
    rng = np.random.default_rng(1)
    return random_params(config, rng, dtype), random_batch(config, count, rng, dtype)[0]


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("kind", KINDS)
def test_infer_gives_the_logits_of_forward_to_the_bit(kind, dtype):
    config = tiny_config(**KINDS[kind])
    params, images = draw(config, dtype)
    logits, _ = forward(config, params, images)
    assert infer(config, params, images).tobytes() == logits.tobytes()


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("kind", KINDS)
def test_features_are_what_the_head_was_given_to_the_bit(kind, dtype):
    config = tiny_config(**KINDS[kind])
    params, images = draw(config, dtype)
    _, cache = forward(config, params, images)
    found = features(config, params, images)
    assert found.shape == (4, config.pre_logits or config.width)
    assert found.tobytes() == cache.of("head")[0].tobytes()


@pytest.mark.parametrize("pool", ["token", "mean"])
def test_features_of_a_model_that_predicts_patches_are_the_mean_of_what_its_head_was_given(pool):
    config = tiny_config(predicts="patches", pool=pool)
    params, images = draw(config)
    _, cache = forward(config, params, images)
    patches = cache.of("head")[0].reshape(4, config.patches, config.width)
    np.testing.assert_allclose(features(config, params, images), patches.mean(1), rtol=1e-12)


def peak_bytes(function, *arguments):
    """The most memory that a call holds at a time beyond what was there, its result included."""
    tracemalloc.start()
    try:
        result = function(*arguments)
        return tracemalloc.get_traced_memory()[1], result
    finally:
        tracemalloc.stop()


@pytest.mark.parametrize("function", [infer, features])
def test_the_memory_of_inference_does_not_grow_with_the_depth(function):
    peaks = {}
    for layers in (2, 20):
        config = tiny_config(image_size=32, layers=layers)
        params, images = draw(config)
        peaks[layers], _ = peak_bytes(function, config, params, images)
    assert peaks[20] < 1.1 * peaks[2]
    assert peaks[20] < 0.2 * peak_bytes(forward, config, params, images)[0]
