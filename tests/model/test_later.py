"""Later ViTs than the paper's: kept in files, given new heads and sizes, trained, and looked into."""

import json
import math
from dataclasses import asdict, replace

import numpy as np
import pytest

import tinyvit
from tests.helpers import random_batch, stage_of
from tests.weights.checkpoints import complaint
from tinyvit import ops
from tinyvit.gradcheck.models import MODEL_CHECKS, random_params
from tinyvit.insight.attention import class_token_attention, head_maps, rollout
from tinyvit.model import ViTConfig, backward, feature_stages, forward, initialise, stages
from tinyvit.model.config import LATER_PARTS
from tinyvit.model.later.assemble import block_of
from tinyvit.model.later.rotary import DINOV3, Rotary, first_frequencies, turn_of
from tinyvit.model.stage import infer_through, split_at_blocks
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


@pytest.mark.parametrize("pool", ["token", "mean"])
def test_rollout_through_merged_patches_is_that_of_the_merged_tokens(pool):
    """In the blocks after the merging, R has a row for each merged token: at first the mean of four rows."""
    config = ViTConfig((8, 16), 4, 12, 20, 3, 3, 5, pool=pool, merge_after=1)
    params, images = (
        random_params(config, np.random.default_rng(0)),
        random_batch(config, 2, np.random.default_rng(1))[0],
    )
    x, R = images, np.eye(config.tokens)
    for each in stages(config, all_tokens=True):
        x, cache = each.forward(params, x)
        if each.name == "blocks.1":
            R = ops.merge_squares(np.broadcast_to(R, (2, *R.shape[-2:])), config.grid)[0]
        if each.name.startswith("blocks."):
            A = ops.attention_probabilities(cache[1]).mean(axis=1)
            R = (A + np.eye(A.shape[-1])) / 2 @ R
    row = R[:, 0] if pool == "token" else R.mean(axis=1)
    row = row[:, config.prefix :]
    np.testing.assert_allclose(
        rollout(config, params, images).reshape(2, -1), row / row.sum(axis=1, keepdims=True)
    )


def test_tokens_stand_in_the_order_of_their_libraries():
    config = ViTConfig((4, 4), 2, 4, 4, 1, 1, 3, pool="distilled", registers=2, position="none")
    params = random_params(config, np.random.default_rng(0))
    stem = split_at_blocks(stages(config))[0]
    x = infer_through(stem, params, np.zeros((1, 4, 4, 3)))
    tokens = [params["class_token"], *params["distillation_token"], *params["registers"]]
    np.testing.assert_array_equal(x[0, :4], tokens)
    assert (config.tokens, config.prefix, x.shape[1]) == (8, 4, 8)


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


@pytest.mark.parametrize("rule", [DINOV3, Rotary(50, 7, 0.5, 2.0, True, False), Rotary(50)], ids=str)
def test_the_angles_of_a_patch_are_those_of_its_row_and_column(rule):
    config = ViTConfig((8, 12), 4, 16, 8, 2, 1, 3, pool="mean", position="none", rotary=rule)
    turn = turn_of(config, random_params(config, np.random.default_rng(0), "float32"), 0)
    assert (turn.pairs, turn.cos.dtype, turn.cos.shape) == (rule.pairs, np.float32, (6, 4))
    for t, (i, j) in enumerate(np.ndindex(2, 3)):
        y, x = i + rule.offset, j + rule.offset
        if rule.reach:
            y, x = rule.reach * y / 2 + rule.shift, rule.reach * x / 3 + rule.shift
        first, second = (x, y) if rule.columns_first else (y, x)
        fast, slow = 1, rule.theta**-0.5  # K = 8
        angles = np.array([first * fast, first * slow, second * fast, second * slow])
        np.testing.assert_allclose([turn.cos[t], turn.sin[t]], [np.cos(angles), np.sin(angles)], atol=1e-6)


def test_learned_frequencies_begin_with_the_usual_lengths_in_two_directions_at_a_right_angle():
    F0, F1 = first_frequencies(np.random.default_rng(0), (2, 3, 8), 50.0)  # (H, K/2), K = 16
    lengths = 50.0 ** -np.array([0, 1 / 4, 2 / 4, 3 / 4])
    np.testing.assert_allclose(np.hypot(F0, F1), [np.tile(lengths, 2)] * 3)
    np.testing.assert_allclose(F0[:, 4:], -F1[:, :4], atol=1e-12)
    np.testing.assert_allclose(F1[:, 4:], F0[:, :4], atol=1e-12)
    assert len(np.unique(F0[:, 0])) == 3  # heads differ


def test_a_point_is_a_pair_of_neighbours_or_one_number_of_each_half():
    angles = np.random.default_rng(0).standard_normal((3, 2))
    x = np.random.default_rng(1).standard_normal((1, 1, 3, 4))
    for pairs, (one, two) in ((True, (slice(0, 4, 2), slice(1, 4, 2))), (False, (slice(0, 2), slice(2, 4)))):
        y, _ = rotary(x, Turn(np.cos(angles), np.sin(angles), pairs))
        expected = (x[..., one] + 1j * x[..., two]) * np.exp(1j * angles)
        np.testing.assert_allclose(y[..., one] + 1j * y[..., two], expected)


@every_later
def test_no_part_is_without_effect(config):
    """Were one left out in both directions, the check of the gradients would not notice."""
    params, rng = random_params(config, np.random.default_rng(1)), np.random.default_rng(2)
    images, grads = rng.standard_normal((3, *config.image_size, 3)), params.zeros_like()
    logits, cache = forward(config, params, images)
    backward(rng.standard_normal(logits.shape), cache, grads)
    assert [name for name in grads if not grads[name].any()] == []


@pytest.mark.parametrize("gelu", ["relu", "exact"])
def test_attention_pooling_has_the_epsilon_and_the_gelu_of_the_model(gelu):
    config = ViTConfig((8, 8), 4, 8, 6, 2, 1, 3, pool="attention", position="none", gelu=gelu, eps=0.5)
    params = random_params(config, np.random.default_rng(0))
    x = np.random.default_rng(1).normal(size=(2, 4, 8))
    o, _ = ops.attention_pool(x, *params.group("pool.attn"), config.heads)
    n, _ = ops.layer_norm(o, *params.group("pool.norm"), 0.5)
    expected = o + ops.mlp(n, *params.group("pool.mlp"), gelu)[0]
    np.testing.assert_allclose(stage_of(config, "pool").forward(params, x)[0], expected)


@pytest.mark.parametrize("pool_all", [False, True])
def test_attention_pooling_reads_the_patches_or_all_tokens(pool_all):
    config = ViTConfig((8, 8), 4, 8, 6, 2, 1, 3, pool="attention", registers=2, pool_all=pool_all)
    params = random_params(config, np.random.default_rng(0))
    x, changed = np.random.default_rng(1).normal(size=(2, 1, config.tokens, 8))
    changed[:, 2:] = x[:, 2:]
    before, after = (stage_of(config, "pool").forward(params, tokens)[0] for tokens in (x, changed))
    assert np.array_equal(before, after) != pool_all
    changed[:, 2] += np.arange(8)  # the first patch
    assert not np.array_equal(before, stage_of(config, "pool").forward(params, changed)[0])


def test_the_features_of_a_distilled_model_are_the_mean_of_its_two_tokens():
    config = next(config for config in LATER.values() if config.pool == "distilled")
    params = random_params(config, np.random.default_rng(0))
    x = np.random.default_rng(1).normal(size=(2, config.tokens, config.width))
    n, _ = ops.layer_norm(x[:, :2], *params.group("norm"), config.eps)
    of_tokens = feature_stages(config)[-3:]  # the norm, the two tokens, their mean
    np.testing.assert_allclose(infer_through(of_tokens, params, x), (n[:, 0] + n[:, 1]) / 2)


def test_in_a_causal_model_no_token_hears_of_those_after_it():
    config = ViTConfig((8, 8), 4, 8, 6, 2, 1, 3, pool="mean", position="none", causal=True)
    params = random_params(config, np.random.default_rng(0))
    x, changed = np.random.default_rng(1).normal(size=(2, 1, 4, 8))
    changed[:, :2], changed[:, 3] = x[:, :2], x[:, 3]
    before, after = (block_of(config, 0).forward(params, tokens)[0] for tokens in (x, changed))
    np.testing.assert_array_equal(before[:, :2], after[:, :2])
    assert np.abs(before - after)[:, 2:].min() > 1e-6


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
        ({"class_token": 1.0}, "class_token is 1.0, expected True, False or None"),
        ({"layer_scale": math.nan}, "layer_scale is nan, expected a finite number"),
        ({"layer_scale": math.inf}, "layer_scale is inf, expected a finite number"),
        ({"eps": 10**400}, "expected a finite number"),
        ({"rotary": {"thetha": 10}}, "rotary has thetha, expected some of theta, reach"),
        ({"rotary": {"theta": "10"}}, "theta of rotary is '10', expected a finite number above 0"),
        ({"rotary": {"theta": -1.0}}, "theta of rotary is -1.0, expected a finite number above 0"),
        ({"rotary": {"reach": math.nan}}, "reach of rotary is nan, expected a finite number"),
        ({"rotary": {"pairs": "no"}}, "pairs of rotary is 'no', expected True or False"),
        ({"rotary": {}, "patch_dropout": 0.5}, "has positions in its blocks cannot drop patches"),
        ({"pool": "mean", "pool_heads": 2}, "pool_heads is for pool 'attention', not 'mean'"),
        ({"pool_mlp_width": 9}, "pool_mlp_width is for pool 'attention', not 'token'"),
        ({"rotary": DINOV3, "heads": 4}, "rotary positions need a multiple of 4"),
        ({"class_token": False}, "pool 'token' reads a class token"),
        ({"layer_scale": -0.1}, "layer_scale is -0.1, expected 0 or more"),
        ({"pool": "attention", "pool_heads": 3}, "not divisible by 3 heads of its pool"),
        ({"predicts": "patches", "pool": "both"}, "predicts patches has pool 'token' or 'mean'"),
        ({"registers": 1, "position": "relative"}, "omit registers"),
        ({"pool": "mean", "pool_all": True}, "pool_all is for pool 'attention', not 'mean'"),
        ({"pool": "both", "final_norm": "pooled"}, "final_norm must be 'tokens'"),
        ({"causal": True}, "pool is 'token', expected 'mean'"),
    ],
    ids=str,
)
def test_parts_that_do_not_fit_are_refused_in_one_line(changes, why):
    plain = {"image_size": 8, "patch_size": 4, "width": 8, "mlp_width": 8, "heads": 2, "layers": 1}
    assert why in complaint(ViTConfig, **(plain | {"classes": 3} | changes))


def test_a_distilled_model_without_biases_of_its_heads_has_neither():
    config = ViTConfig((8, 8), 4, 8, 6, 2, 1, 3, pool="distilled", head_bias=False)
    assert [name for name in initialise(config) if name.startswith("head")] == ["head.weight", "head2.weight"]


def test_numbers_of_rotary_are_pythons_own():
    rule = ViTConfig((8, 8), 4, 8, 6, 2, 1, 3, rotary={"theta": np.float32(100)}).rotary
    assert json.dumps(asdict(rule)) == json.dumps(asdict(Rotary()))
