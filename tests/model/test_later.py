"""Later ViTs than the paper's: kept in files, given new heads and sizes, trained, and looked into."""

import json
from dataclasses import replace

import numpy as np
import pytest

import tinyvit
from tests.weights.checkpoints import complaint
from tinyvit.checking.models import MODEL_CHECKS, random_params
from tinyvit.insight.attention import class_token_attention, head_maps, rollout
from tinyvit.model import ViTConfig, forward
from tinyvit.model.config import LATER_PARTS
from tinyvit.model.rotary import DINOV3, Rotary, turn_of
from tinyvit.ops import Turn, rotary

LATER = {check.name: check.config for check in MODEL_CHECKS if check.config.later_parts}
every_later = pytest.mark.parametrize("config", LATER.values(), ids=LATER.keys())


def model_of(config, dtype="float32"):
    return tinyvit.Model(config, random_params(config, np.random.default_rng(1), dtype))


def some_images(config, count=5):
    H, W = config.image_size
    return np.random.default_rng(0).integers(0, 256, (count, H, W, 3), dtype=np.uint8)


def test_the_checked_models_have_every_later_part_between_them():
    parts = set().union(*(config.later_parts for config in LATER.values()))
    assert {"gelu", "pool", "position", *LATER_PARTS} - parts == {"pool_mlp_width", "causal"}


@every_later
def test_a_configuration_survives_json(config):
    assert ViTConfig(**json.loads(json.dumps(config.as_dict()))) == config


@every_later
def test_saved_and_loaded_it_answers_the_same(config, tmp_path):
    model, images = model_of(config), some_images(config)
    model.save(tmp_path / "model.npz")
    again = tinyvit.load(tmp_path / "model.npz")
    assert again.config == config
    np.testing.assert_array_equal(again.logits(images), model.logits(images))


@every_later
def test_it_learns_with_a_new_head_at_another_size(config):
    model = model_of(replace(config, image_size=(4, 4))).with_new_head(["a", "b"])
    if config.position != "bias":  # whose offsets belong to one grid
        model = model.at_resolution(8)
    images, labels = some_images(model.config, 8), [0, 1] * 4
    before = model.probabilities(images)[np.arange(8), labels].mean()
    assert before == pytest.approx(0.5)  # the head is zero
    model.fit(images, labels, epochs=80, batch_size=8, lr=0.03)
    assert model.probabilities(images)[np.arange(8), labels].mean() > 0.8


@every_later
def test_pictures_of_attention_leave_out_all_tokens_but_the_patches(config):
    images = np.random.default_rng(0).standard_normal((2, *config.image_size, 3))
    params = random_params(config, np.random.default_rng(1))
    for maps in (class_token_attention(config, params, images), rollout(config, params, images)):
        assert maps.shape == (2, *config.grid)
        np.testing.assert_allclose(maps.sum(axis=(1, 2)), 1)
    heads = head_maps(config, params, images)
    assert heads.shape == (2, config.layers, config.heads, *config.grid)
    np.testing.assert_allclose(heads.sum(axis=(3, 4)), 1)


def test_tokens_stand_in_the_order_of_their_libraries():
    config = ViTConfig((4, 4), 2, 4, 4, 1, 1, 3, pool="distilled", registers=2, position="none")
    params = random_params(config, np.random.default_rng(0))
    _, cache = forward(config, params, np.zeros((1, 4, 4, 3)), whole=True)
    n, r, _ = cache.blocks[0].norm1
    tokens = [params["class_token"], *params["distillation_token"], *params["registers"]]
    for found, token in zip(n[0], tokens, strict=False):
        centred = token - token.mean()
        np.testing.assert_allclose(found, centred / np.sqrt((centred**2).mean() + config.eps))
    assert (config.tokens, config.prefix, len(r[0])) == (8, 4, 8)


@pytest.mark.parametrize("rule", [DINOV3, Rotary(50, 7, 1), Rotary(50, columns_first=True)], ids=str)
def test_a_score_depends_on_where_the_key_lies_as_seen_from_the_query_alone(rule):
    config = ViTConfig((12, 12), 4, 8, 8, 1, 1, 3, pool="mean", position="none", rotary=rule)
    turn = turn_of(config, random_params(config, np.random.default_rng(0)), 0)
    q, k = np.random.default_rng(2).standard_normal((2, 8))
    queries = rotary(np.broadcast_to(q, (1, 1, 9, 8)).copy(), turn)[0][0, 0].reshape(3, 3, 8)
    keys = rotary(np.broadcast_to(k, (1, 1, 9, 8)).copy(), turn)[0][0, 0].reshape(3, 3, 8)
    one = queries[0, 0] @ keys[1, 1]
    np.testing.assert_allclose(queries[1, 1] @ keys[2, 2], one)
    np.testing.assert_allclose(queries[1, 0] @ keys[2, 1], one)
    assert abs(queries[1, 1] @ keys[0, 0] - one) > 1e-3


def test_tokens_before_the_patches_do_not_turn():
    x = np.random.default_rng(0).standard_normal((1, 1, 5, 4))
    y, _ = rotary(x, Turn(np.zeros((3, 2)), np.ones((3, 2)), pairs=True))
    np.testing.assert_array_equal(y[:, :, :2], x[:, :, :2])
    np.testing.assert_array_equal(y[0, 0, 2:, ::2], -x[0, 0, 2:, 1::2])  # a quarter of a turn


@pytest.mark.parametrize(
    ("changes", "why"),
    [
        ({"position_on": "some"}, "position_on is 'some', expected one of class, patches, all"),
        ({"registers": -1}, "registers is -1, expected a whole number, 0 or more"),
        ({"gated": "yes"}, "gated is 'yes', expected True or False"),
        ({"class_token": 3}, "class_token is 3, expected True, False or None"),
        ({"rotary": "dinov3"}, "rotary is 'dinov3', expected a model.rotary.Rotary or None"),
        ({"rotary": DINOV3, "heads": 4}, "rotary positions need a multiple of 4"),
        ({"class_token": False}, "pool 'token' reads a class token"),
        ({"layer_scale": -0.1}, "layer_scale is -0.1, expected 0 or more"),
        ({"pool": "attention", "pool_heads": 3}, "not divisible by 3 heads of its pool"),
        ({"predicts": "patches", "pool": "both"}, "predicts patches has pool 'token' or 'mean'"),
        ({"registers": 1, "position": "relative"}, "omit registers"),
        ({"pool": "mean", "pool_all": True}, "pool_all is for pool 'attention', not 'mean'"),
        ({"pool": "both", "final_norm": "pooled"}, "final_norm must be 'tokens'"),
        ({"causal": True}, "its pool must be 'mean'"),
    ],
    ids=str,
)
def test_parts_that_do_not_fit_are_refused_in_one_line(changes, why):
    plain = {"image_size": 8, "patch_size": 4, "width": 8, "mlp_width": 8, "heads": 2, "layers": 1}
    assert why in complaint(ViTConfig, **(plain | {"classes": 3} | changes))
