"""Rollout and the maps of heads: naive loops say the same, and shares add up."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import tinyvit
from tests.helpers import seeds, small_models
from tests.insight.naive import made, models
from tinyvit import engine as engines
from tinyvit import ops
from tinyvit.gradcheck.models import random_params
from tinyvit.insight.attention import came_from, rollout
from tinyvit.model import forward
from tinyvit.model.config import POOLS


def naive_rollout(config, attention):
    """Shares (gh, gw) of the answer, for attention (layers, heads, N, N), by following every path."""
    layers, heads, N, _ = attention.shape
    share = [[1.0 if i == j else 0.0 for j in range(N)] for i in range(N)]
    for layer in range(layers):
        mixed = [[0.0] * N for _ in range(N)]
        for i in range(N):
            drawn = [sum(float(attention[layer, h, i, k]) for h in range(heads)) / heads for k in range(N)]
            drawn[i] += 1
            for k in range(N):
                for j in range(N):
                    mixed[i][j] += drawn[k] / sum(drawn) * share[k][j]
        share = mixed
    return answer_of(config, np.array(share))


def answer_of(config, rows):
    """The share that the answer takes from each patch: the class token's row, or the mean of all."""
    row = rows[0, 1:] if config.has_token else rows.mean(axis=0)
    return (row / max(row.sum(), 1e-30)).reshape(config.grid)  # nothing, if all that draws is off


@given(models())
@settings(max_examples=15)
def test_rollout_is_that_of_a_naive_loop(drawn):
    model, images = drawn
    got = model.rollout(images)
    for image, attention in enumerate(model.attention(images)):
        np.testing.assert_allclose(got[image], naive_rollout(model.config, attention), rtol=1e-4, atol=1e-6)
    np.testing.assert_allclose(got.sum(axis=(1, 2)), 1, rtol=1e-5)


@given(models(), st.data())
@settings(max_examples=15)
def test_rollout_follows_no_path_through_what_is_off(drawn, data):
    (model, images), c = drawn, drawn[0].config
    head = st.tuples(st.integers(0, c.layers - 1), st.integers(0, c.heads - 1))
    heads, blocks = data.draw(st.sets(head)), data.draw(st.sets(st.integers(0, c.layers - 1)))
    less = model.without(heads, blocks)
    got, attention = less.rollout(images), less.attention(images)
    for block, head in [*heads, *((block, slice(None)) for block in blocks)]:
        attention[:, block, head] = 0
    for found, each in zip(got, attention, strict=True):
        np.testing.assert_allclose(found, naive_rollout(c, each), rtol=1e-4, atol=1e-6)


@given(small_models(pool=st.sampled_from(POOLS)) | small_models(predicts=st.just("patches")), seeds())
@settings(max_examples=40)
def test_the_answer_is_read_from_the_tokens_that_the_head_reads(config, seed):
    rng, T = np.random.default_rng(seed), config.patches
    params, images = random_params(config, rng), rng.normal(size=(2, *config.image_size, 3))
    rows = came_from(config, params, images)[..., -T:]  # (2, N, T)
    patches = rows[:, -T:].mean(axis=1)
    expected = {"token": rows[:, 0], "distilled": rows[:, :2].mean(axis=1), "mean": patches}
    expected["both"] = (rows[:, 0] + patches) / 2
    if config.pool == "attention":
        _, cache = forward(config, params, images)
        probe = ops.pool_probabilities(cache.of("pool")[0]).mean(axis=1)[:, -T:]
        expected["attention"] = np.einsum("bi,bij->bj", probe, rows[:, -T:])
    row = patches if config.predicts_patches else expected[config.pool]
    row = row / row.sum(axis=1, keepdims=True)
    np.testing.assert_allclose(rollout(config, params, images), row.reshape(2, *config.grid), rtol=1e-9)


@given(models())
@settings(max_examples=25)
def test_the_maps_of_heads_are_what_the_answer_draws_in_each_block(drawn):
    model, images = drawn
    attention, maps = model.attention(images), model.head_maps(images)
    for index in np.ndindex(*attention.shape[:3]):
        np.testing.assert_allclose(
            maps[index], answer_of(model.config, attention[index]), rtol=1e-4, atol=1e-6
        )


def test_the_maps_of_a_single_head_end_with_the_attention_map():
    model, images = made((8, 12), 2, 1, "token", "1d", 3)
    np.testing.assert_allclose(model.head_maps(images)[:, -1, 0], model.attention_map(images), rtol=1e-4)


def test_uniform_attention_leaves_each_token_the_share_that_no_block_has_mixed():
    model = tinyvit.preset("nano/8", 32, 10)
    config, N = model.config, model.config.tokens
    for i in range(config.layers):
        model.params[f"blocks.{i}.attn.qkv.weight"][...] = 0
    R = came_from(config, model.params, np.zeros((1, 32, 32, 3), np.float32))[0]  # (N, N)
    kept = 2.0**-config.layers
    np.testing.assert_allclose(R, kept * np.eye(N) + (1 - kept) / N, rtol=1e-5)


def test_the_batches_in_which_images_are_looked_at_do_not_matter(monkeypatch):
    model, _ = made((8, 8), 2, 3, "token", "1d", 1)
    images = np.random.default_rng(0).integers(0, 256, (5, 8, 8, 3), dtype=np.uint8)
    looks = model.rollout, model.head_maps, model.attention_distance, model.attention
    whole = [look(images) for look in looks]
    monkeypatch.setattr(engines, "_MOST_IMAGES", 2)
    for look, expected in zip(looks, whole, strict=True):
        np.testing.assert_allclose(look(images), expected, rtol=1e-4, atol=1e-6)


def test_on_a_gpu_the_numbers_are_the_same(gpu):
    model, images = made((8, 12), 2, 3, "token", "1d", 2)
    there = model.to(gpu)
    for name in ("attention_distance", "rollout", "head_maps", "attention"):
        got = getattr(there, name)(images)
        assert isinstance(got, np.ndarray)
        np.testing.assert_allclose(got, getattr(model, name)(images), rtol=1e-3, atol=1e-5)


@pytest.mark.parametrize("name", ["rollout", "head_maps", "attention_distance"])
def test_a_photo_of_any_size_can_be_looked_at(name):
    model = tinyvit.preset("nano/8", 32, 10)
    assert len(getattr(model, name)(np.zeros((50, 70, 3), np.uint8))) == 1
