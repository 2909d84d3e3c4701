"""A model in several files."""

import json

import numpy as np
import pytest

from tests.weights.checkpoints import EXACT, assert_same, complaint, random_model
from tinyvit.weights.read import load_weights
from tinyvit.weights.safetensors import read_shards, write_safetensors
from tinyvit.weights.torch_names import to_torch_names

FILES = ("model-00001-of-00002.safetensors", "model-00002-of-00002.safetensors")


@pytest.fixture
def sharded(tmp_path):
    """The index of a model in two files, and the model."""
    model = random_model(**EXACT)
    arrays = to_torch_names(*model)
    places = {name: FILES[i % 2] for i, name in enumerate(sorted(arrays))}
    for file in FILES:
        write_safetensors(tmp_path / file, {name: arrays[name] for name in arrays if places[name] == file})
    index = tmp_path / "model.safetensors.index.json"
    index.write_text(json.dumps({"metadata": {"total_size": 1}, "weight_map": places}))
    return index, model


def with_places(index, change):
    stated = json.loads(index.read_text())
    change(stated["weight_map"])
    index.write_text(json.dumps(stated))
    return index


def test_a_model_in_parts_is_the_model(sharded):
    index, model = sharded
    assert_same(load_weights(index, heads=3), model)


@pytest.mark.parametrize(
    "name",
    [
        "../outside.safetensors",
        "/etc/passwd",
        "sub/a.safetensors",
        "sub\\a.safetensors",
        "C:a.safetensors",
        "..",
        3,
    ],
)
def test_nothing_outside_the_folder_is_read(sharded, name, monkeypatch):
    index, _ = sharded
    write_safetensors(index.parent.parent / "outside.safetensors", {"norm.bias": np.zeros(12, "float32")})
    monkeypatch.setattr(
        "tinyvit.weights.safetensors.read_safetensors", lambda path: pytest.fail(f"read {path}")
    )
    message = complaint(read_shards, with_places(index, lambda places: places.update({"norm.bias": name})))
    assert f"{name!r} is not the name of a .safetensors file beside it" in message


def test_a_part_that_is_missing_damaged_or_wrong_is_named(sharded):
    index, _ = sharded
    content = index.with_name(FILES[1]).read_bytes()
    index.with_name(FILES[1]).write_bytes(content[:-1])
    assert FILES[1] in complaint(read_shards, index)
    index.with_name(FILES[1]).write_bytes(index.with_name(FILES[0]).read_bytes())
    assert f"{FILES[1]} also contains" in complaint(read_shards, index)
    index.with_name(FILES[1]).unlink()
    assert f"{FILES[1]} is missing" in complaint(read_shards, index)


def test_every_part_contains_exactly_what_the_index_lists(sharded):
    index, _ = sharded
    with_places(index, lambda places: places.update({"more": FILES[0]}))
    assert f"{FILES[0]} lacks 'more'" in complaint(read_shards, index)
    with_places(index, lambda places: (places.pop("more"), places.pop("norm.bias")))
    assert "also contains 'norm.bias'" in complaint(read_shards, index)


@pytest.mark.parametrize(
    "content", ["{", "[]", "3", "{}", '{"weight_map": 3}', '{"weight_map": ["a"]}', "\xff"]
)
def test_an_invalid_index_is_one_clear_line(tmp_path, content):
    index = tmp_path / "model.safetensors.index.json"
    index.write_text(content, encoding="latin-1")
    assert "does not say which file contains what" in complaint(read_shards, index)


@pytest.mark.parametrize("file", [3, None, [], {}, ["a.safetensors"]])
def test_a_place_that_is_no_name_is_refused(sharded, file):
    index, _ = sharded
    with_places(index, lambda places: places.update({"x": file}))
    assert "is not the name of a .safetensors file" in complaint(read_shards, index)


def test_a_name_too_long_for_the_file_system_is_a_file_that_is_missing(sharded):
    index, _ = sharded
    with_places(index, lambda places: places.update({"x": "a" * 300 + ".safetensors"}))
    assert "is missing" in complaint(read_shards, index)
