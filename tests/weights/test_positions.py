"""Other kinds of positions in files of weights, and at other resolutions."""

import numpy as np
import pytest

from tests.helpers import random_batch
from tests.weights.checkpoints import EXACT, assert_same, complaint, random_model
from tinyvit.model import Model, forward
from tinyvit.model.later.positions import position_table
from tinyvit.ops.resize import resize_matrix
from tinyvit.weights.checkpoint import load_checkpoint
from tinyvit.weights.read import load_weights
from tinyvit.weights.resize import at_image_size, resize_positions
from tinyvit.weights.save import save_model, save_official, save_safetensors

IN_THE_BLOCKS = [
    ("1d", "blocks"),
    ("2d", "shared"),
    ("sincos", "blocks"),
    ("relative", "blocks"),
    ("relative", "shared"),
]


@pytest.mark.parametrize("pool", ["token", "mean"])
@pytest.mark.parametrize("kind", ["2d", "sincos", "none"])
@pytest.mark.parametrize("layout", ["official", "torch", "hugging_face"])
def test_positions_at_the_stem_are_written_as_one_table_and_the_logits_stay(layout, kind, pool, tmp_path):
    arithmetic = {} if layout == "official" else EXACT
    config, params = random_model(position=kind, pool=pool, **arithmetic)
    images, _ = random_batch(config, 2, np.random.default_rng(0), "float32")
    expected, _ = forward(config, params, images)
    if layout == "official":
        save_official(path := tmp_path / "a.npz", config, params)
    elif layout == "torch":
        save_safetensors(path := tmp_path / "a.safetensors", config, params)
    elif pool == "token":  # Hugging Face knows no other
        save_model(Model(config, params), tmp_path / "a", layout)
        path = tmp_path / "a" / "model.safetensors"
    else:
        return
    read, arrays = load_weights(path, heads=None if layout == "official" else config.heads)
    assert (read.position, read.position_at) == ("1d", "stem")
    np.testing.assert_array_equal(forward(read, arrays, images)[0], expected)


@pytest.mark.parametrize(("kind", "at"), IN_THE_BLOCKS)
def test_positions_in_the_blocks_fit_only_tinyvits_own_layout(kind, at, tmp_path):
    model = Model(*random_model(position=kind, position_at=at, pool="mean", **EXACT))
    for name, layout in (("a.safetensors", "torch"), ("a", "hugging_face")):
        said = complaint(save_model, model, tmp_path / name, layout)
        assert f"position {kind!r} at {at!r} fits no layout of other programs" in said
    model = Model(*random_model(position=kind, position_at=at))
    assert "fits no layout" in complaint(save_model, model, tmp_path / "a.npz", "official")
    assert not list(tmp_path.iterdir())
    save_model(model, tmp_path / "a.npz")
    read = load_checkpoint(tmp_path / "a.npz")
    assert_same((read.config, read.params), (model.config, model.params))


@pytest.mark.parametrize(("kind", "at"), [("none", None), ("sincos", "stem"), ("sincos", "blocks")])
def test_what_is_not_learned_needs_no_resizing(kind, at):
    config, params = random_model(image_size=(8, 12), position=kind, position_at=at)
    model = at_image_size(Model(config, params), (16, 8))
    np.testing.assert_array_equal(model.params.flat, params.flat)
    images, _ = random_batch(model.config, 2, np.random.default_rng(0), "float32")
    assert forward(model.config, model.params, images)[0].shape == (2, 5)


@pytest.mark.parametrize("at", ["blocks", "shared"])
def test_every_table_is_resized(at):
    config, params = random_model(image_size=(8, 12), position_at=at)
    resized = at_image_size(Model(config, params), (16, 8), "bicubic").params
    tables = [name for name in params if name.endswith("position")]
    assert len(tables) == (config.layers if at == "blocks" else 1)
    for name in params:
        old = params[name]
        expected = resize_positions(old, (2, 3), (4, 2), True, "bicubic") if name in tables else old
        np.testing.assert_array_equal(resized[name], expected)


@pytest.mark.parametrize("at", ["stem", "blocks"])
def test_the_rows_and_the_columns_are_resized_each_along_its_axis(at):
    config, params = random_model(image_size=(8, 12), position="2d", position_at=at)
    model = at_image_size(Model(config, params), (20, 12))
    assert model.config.grid == (5, 3)
    part = "position" if at == "stem" else "blocks.1.position"
    np.testing.assert_array_equal(model.params[f"{part}.columns"], params[f"{part}.columns"])
    expected = resize_matrix(2, 5, "corners") @ params[f"{part}.rows"]
    np.testing.assert_allclose(model.params[f"{part}.rows"], expected, rtol=1e-6)
    # the table of the larger grid is the resized table of the smaller one
    block = None if at == "stem" else 1
    before, after = (position_table(m.config, m.params, block) for m in (Model(config, params), model))
    np.testing.assert_allclose(after, resize_positions(before, (2, 3), (5, 3), True), atol=1e-6)


def test_relative_positions_are_for_one_grid():
    config, params = random_model(image_size=(8, 12), position="relative")
    said = complaint(at_image_size, Model(config, params), (12, 12))
    assert "relative positions cannot be resized" in said and "8 x 12 pixels" in said
    np.testing.assert_array_equal(at_image_size(Model(config, params), (8, 12)).params.flat, params.flat)
