"""Position embeddings of every kind: what they tell the model, where they act, and what they learn."""

import json

import numpy as np
import pytest

from tests.helpers import distance, random_batch, tiny_config
from tinyvit.gradcheck import random_params
from tinyvit.model import ViTConfig, backward, forward, initialise, layout, preset
from tinyvit.model.later.positions import position_table
from tinyvit.ops import patchify, positions_sincos, unpatchify

KINDS = [
    *((kind, at) for kind in ("1d", "2d", "sincos") for at in ("stem", "blocks", "shared")),
    ("relative", "blocks"),
    ("relative", "shared"),
    ("none", None),
]
every_kind = pytest.mark.parametrize(("kind", "at"), KINDS)
every_pool = pytest.mark.parametrize("pool", ["token", "mean"])


def draw(count=2, seed=1, **changes):
    """A model for images of 2 x 3 patches, random parameters and images."""
    config, rng = tiny_config(image_size=(8, 12), **changes), np.random.default_rng(seed)
    return config, random_params(config, rng), random_batch(config, count, rng)[0]


@every_pool
@every_kind
def test_the_order_of_the_patches_matters_unless_there_are_no_positions(kind, at, pool):
    config, params, images = draw(position=kind, position_at=at, pool=pool)
    patches, _ = patchify(images, 4)
    shuffled = unpatchify(patches[:, [3, 0, 5, 1, 4, 2]], images.shape, 4)
    changed = distance(forward(config, params, shuffled)[0], forward(config, params, images)[0])
    assert changed < 1e-12 if kind == "none" else changed > 1e-3


@every_kind
def test_every_block_that_has_positions_reads_them(kind, at):
    """Each table, moved alone, changes the logits; there are as many as blocks, or one."""
    config, params, images = draw(position=kind, position_at=at, pool="mean")
    tables = [name for name in params if "position" in name]
    of_each = {"1d": 1, "2d": 2, "relative": 1}.get(kind, 0)
    assert len(tables) == of_each * (config.layers if at == "blocks" else 1)
    before, rng = forward(config, params, images)[0], np.random.default_rng(2)
    for name in tables:
        kept, params[name] = params[name].copy(), rng.standard_normal(params[name].shape)
        assert distance(forward(config, params, images)[0], before) > 1e-3, name
        params[name] = kept


@pytest.mark.parametrize("kind", ["1d", "2d", "relative"])
def test_a_shared_table_is_one_in_every_block_and_its_gradient_the_sum_of_theirs(kind):
    shared, params, images = draw(position=kind, position_at="shared", layers=3)
    separate = tiny_config(image_size=(8, 12), position=kind, position_at="blocks", layers=3)
    rng = np.random.default_rng(0)
    own = random_params(separate, rng)
    for name in own:  # blocks.2.position.rows is made equal to position.rows
        own[name] = params[name[name.index("position") :] if "position" in name else name]
    logits, cache = forward(shared, params, images)
    own_logits, own_cache = forward(separate, own, images)
    np.testing.assert_array_equal(own_logits, logits)
    dlogits, grads, own_grads = rng.standard_normal(logits.shape), params.zeros_like(), own.zeros_like()
    backward(dlogits, cache, grads)
    backward(dlogits, own_cache, own_grads)
    for name in grads:
        parts = [g for other, g in own_grads.items() if other.endswith(name) and "position" in other]
        expected = sum(parts) if "position" in name else own_grads[name]
        assert distance(grads[name], expected) < 1e-12, name


@pytest.mark.parametrize("kind", ["2d", "sincos"])
def test_positions_in_the_plane_give_the_class_token_none(kind):
    config, params, _ = draw(position=kind)
    table = position_table(config, params)
    assert table.shape == (7, 12) and not table[0].any() and table[1:].all(axis=1).any()
    if kind == "sincos":
        np.testing.assert_allclose(table[1:], positions_sincos((2, 3), 12))
        assert not [name for name in params if "position" in name]


def test_relative_positions_are_not_added_anywhere():
    config, params, _ = draw(position="relative")
    assert [position_table(config, params, block) for block in (None, 0, 1)] == [None] * 3
    assert params.shapes["blocks.1.position"] == (13, 4)


def test_first_values_of_every_table_are_small():
    for kind, at in KINDS:
        params = initialise(preset("nano/4", 64, 10, position=kind, position_at=at))
        for name in params:
            if "position" in name:
                assert params[name].std() == pytest.approx(0.02, rel=0.15), (kind, at, name)


def test_the_place_is_filled_in_and_survives_a_json_file():
    usual = {"1d": "stem", "2d": "stem", "sincos": "stem", "relative": "blocks", "none": None}
    assert {kind: tiny_config(position=kind).position_at for kind in usual} == usual
    for kind, at in KINDS:
        config = preset("nano/4", 32, 10, position=kind, position_at=at)
        assert (config.position, config.position_at) == (kind, at)
        assert ViTConfig(**json.loads(json.dumps(config.as_dict()))) == config


def test_a_description_from_before_there_was_a_choice_is_that_of_a_table_at_the_stem():
    fields = tiny_config().as_dict()
    del fields["position"], fields["position_at"]
    assert ViTConfig(**fields) == tiny_config(position="1d", position_at="stem")


def test_only_the_learned_table_at_the_stem_has_an_official_name():
    for kind, at in KINDS:
        rows = [row for row in layout(tiny_config(position=kind, position_at=at)) if "position" in row.name]
        assert all(bool(row.official) == ((kind, at) == ("1d", "stem")) for row in rows)
