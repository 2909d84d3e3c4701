"""Attention distance: a naive loop says the same, and known attention has the distance it must have."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import tinyvit
from tests.helpers import tiny_config
from tests.insight.naive import models, places
from tinyvit import engine as engines
from tinyvit.insight.attention import patch_distances, uniform_distance
from tinyvit.support.errors import UserError


def naive_distance(config, A):
    """The distance of one head with probabilities A (N, N), one pair of tokens at a time."""
    where, total, queries = places(config), 0.0, 0
    for i, asks in enumerate(where):
        if asks is None:
            continue
        weighted = weights = 0.0
        for j, answers in enumerate(where):
            if answers is not None:
                weighted += float(A[i, j]) * config.pixels_per_patch * math.dist(asks, answers)
                weights += float(A[i, j])
        total, queries = total + weighted / weights, queries + 1
    return total / queries


@given(models())
@settings(max_examples=25)
def test_distances_are_those_of_a_naive_loop(drawn):
    model, images = drawn
    attention, got = model.attention(images), model.attention_distance(images)
    assert got.shape == attention.shape[:3]
    for index in np.ndindex(*got.shape):
        assert got[index] == pytest.approx(naive_distance(model.config, attention[index]), rel=1e-4, abs=1e-4)


@given(st.integers(1, 7), st.integers(1, 7), st.integers(1, 5))
def test_uniform_distance_is_the_mean_over_all_pairs_of_patches(rows, columns, side):
    config = tiny_config(image_size=(rows * side, columns * side), patch_size=side)
    corners = [(side * r, side * c) for r in range(rows) for c in range(columns)]
    pairs = [math.dist(a, b) for a in corners for b in corners]
    assert uniform_distance(config) == pytest.approx(sum(pairs) / len(pairs))
    assert patch_distances(config).mean() == pytest.approx(uniform_distance(config))


def test_in_a_fine_square_grid_uniform_distance_approaches_that_of_random_points():
    known = (2 + math.sqrt(2) + 5 * math.log(1 + math.sqrt(2))) / 15
    assert uniform_distance(tiny_config(image_size=400, patch_size=1)) / 400 == pytest.approx(known, rel=1e-4)


@pytest.mark.parametrize("pool", ["token", "mean"])
def test_a_new_model_looks_about_as_far_as_uniform_attention(pool):
    model = tinyvit.preset("nano/4", 32, 10, pool=pool)
    images = np.random.default_rng(0).integers(0, 256, (4, 32, 32, 3), dtype=np.uint8)
    distance = model.attention_distance(images).mean(axis=0)
    assert model.uniform_distance() == pytest.approx(16.546, abs=1e-3)
    np.testing.assert_allclose(distance, model.uniform_distance(), rtol=0.03)


def test_a_head_that_looks_only_at_itself_has_no_distance_and_the_class_token_does_not_count():
    model = tinyvit.preset("nano/8", 32, 10)
    D, T = 64, model.config.patches
    for name in ("patch.weight", "patch.bias", "position"):
        model.params[name][...] = 0
    model.params["position"][1:, :T] = 40 * np.eye(T)  # patch i is the direction i, nothing else
    qkv = "blocks.0.attn.qkv"
    model.params[f"{qkv}.weight"][:, : 2 * D] = 0
    K = D // model.config.heads
    for part in (0, D):  # query and key of head 0 read that direction
        model.params[f"{qkv}.weight"][:K, part : part + K] = 10 * np.eye(K)
    distance = model.attention_distance(np.zeros((1, 32, 32, 3), np.uint8))[0, 0]
    assert distance[0] == pytest.approx(0, abs=1e-3)
    assert distance[1:] == pytest.approx([model.uniform_distance()] * 3)  # their scores are all 0


def test_in_a_hybrid_distances_are_pixels_of_the_image():
    model = tinyvit.preset("R5+nano/4", 32, 10)
    images = np.random.default_rng(0).integers(0, 256, (1, 32, 32, 3), dtype=np.uint8)
    side = 32 / model.config.grid[0]
    assert model.uniform_distance() / side == pytest.approx(16.546 / 4, abs=1e-3)
    np.testing.assert_allclose(model.attention_distance(images)[0], model.uniform_distance(), rtol=0.05)


def test_a_resnet_has_no_distance():
    model = tinyvit.preset("resnet-nano", 32, 10)
    images = np.zeros((1, 32, 32, 3), np.uint8)
    looks = model.attention_distance, model.rollout, model.head_maps, lambda _: model.uniform_distance()
    for look in looks:
        with pytest.raises(UserError, match="a ResNet has no attention"):
            look(images)


def test_memory_does_not_grow_with_depth_or_with_the_number_of_images(monkeypatch):
    tracemalloc = pytest.importorskip("tracemalloc")
    images = np.random.default_rng(0).integers(0, 256, (12, 32, 32, 3), dtype=np.uint8)
    monkeypatch.setattr(engines, "_MOST_IMAGES", 2)

    def peak(layers, count):
        model = tinyvit.preset("nano/4", 32, 10, layers=layers)
        tracemalloc.start()
        for look in (model.attention_distance, model.rollout, model.head_maps):
            look(images[:count])
        highest = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        return highest

    alone, many = peak(2, 2), peak(6, 12)
    assert many < 1.5 * alone, (alone, many)
