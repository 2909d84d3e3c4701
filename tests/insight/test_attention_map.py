"""The shares that the class token draws from the patches: they add up to 1, and follow the keys."""

import numpy as np
import pytest

import tinyvit
from tinyvit import engine as engines
from tinyvit.data import normalise
from tinyvit.insight.attention import class_token_attention
from tinyvit.model import initialise, preset


def model(**changes):
    config = preset("nano/4", 16, 3, **changes)
    return config, initialise(config, 4)


def images(count):
    return np.random.default_rng(5).normal(size=(count, 16, 16, 3)).astype("float32")


@pytest.mark.parametrize("pool", ["token", "mean"])
def test_each_image_has_shares_that_add_up_to_one(pool):
    attention = class_token_attention(*model(pool=pool), images(3))
    assert attention.shape == (3, 4, 4)
    assert (attention > 0).all()
    np.testing.assert_allclose(attention.sum(axis=(1, 2)), 1, rtol=1e-5)
    assert np.abs(attention[0] - attention[1]).max() > 1e-6


def test_attention_goes_to_the_patch_whose_key_answers_the_query():
    config, params = model()
    pattern = np.random.default_rng(0).normal(size=64).astype("float32")
    params["position"][1 + 6] += 100 * pattern  # patch 6 is in row 1, column 2
    qkv = f"blocks.{config.layers - 1}.attn.qkv"
    params[f"{qkv}.weight"][...] = 0
    params[f"{qkv}.bias"][:64] = 1  # every query is all ones,
    params[f"{qkv}.weight"][:, 64:128] = pattern[:, None]  # and a key how much of the pattern there is
    attention = class_token_attention(config, params, images(2))
    assert (attention[:, 1, 2] > 0.99).all()


def test_a_token_that_looks_only_at_itself_divides_by_nothing():
    config, params = model()
    qkv = f"blocks.{config.layers - 1}.attn.qkv"
    params[f"{qkv}.weight"][...] = 0
    params["class_token"][...] = 1e4 * np.resize([1, -1], 64)
    params[f"{qkv}.weight"][:, 0:128] = 1e3 * np.resize([1, -1], 64)[:, None]
    with np.errstate(all="raise", under="ignore"):
        attention = class_token_attention(config, params, images(1))
    assert np.isfinite(attention).all()


def test_the_batches_it_is_drawn_in_do_not_matter(monkeypatch):
    config, params = model()
    pixels = np.random.default_rng(0).integers(0, 256, (5, *config.image_size, 3), dtype=np.uint8)
    look = tinyvit.Model(config, params).attention_map
    whole = look(pixels)
    monkeypatch.setattr(engines, "_MOST_IMAGES", 2)
    np.testing.assert_allclose(look(pixels), whole, rtol=1e-5)
    inputs = normalise(pixels, params.flat.dtype)
    np.testing.assert_allclose(class_token_attention(config, params, inputs), whole, rtol=1e-5)
