"""The file in a folder that is meant."""

import pytest

from tests.weights.checkpoints import complaint
from tinyvit.weights.read import weights_in


def fill(folder, *names):
    for name in (*names, "config.json", "README.md"):
        (folder / name).write_text("{}")
    return folder


@pytest.mark.parametrize(
    ("names", "found"),
    [
        (["model.safetensors"], "model.safetensors"),
        (["model.safetensors", "pytorch_model.bin", "model.fp16.safetensors"], "model.safetensors"),
        (
            ["model.safetensors.index.json", "model-00001-of-00001.safetensors"],
            "model.safetensors.index.json",
        ),
        (["model.safetensors.index.json", "model.safetensors"], "model.safetensors"),
    ],
)
def test_the_weights_in_a_folder(tmp_path, names, found):
    assert weights_in(fill(tmp_path, *names)) == tmp_path / found


def test_a_folder_without_weights_and_a_path_that_is_not_a_folder(tmp_path):
    assert weights_in(fill(tmp_path)) is None
    assert weights_in(tmp_path / "none") is None
    assert weights_in(tmp_path / "README.md") is None


def test_weights_of_another_name_are_to_be_named_themselves(tmp_path):
    message = complaint(weights_in, fill(tmp_path, "model.fp16.safetensors", "pytorch_model.bin"))
    assert (
        f"no model.safetensors, but model.fp16.safetensors: give the file that you mean, such as {tmp_path}"
        in message
    )


def test_a_part_without_the_index_is_not_offered_as_a_model(tmp_path):
    message = complaint(weights_in, fill(tmp_path, "model-00001-of-00002.safetensors"))
    assert "a part of a model, but no model.safetensors.index.json" in message


@pytest.mark.parametrize("name", ["pytorch_model.bin", "pytorch_model.bin.index.json", "model.pth"])
def test_without_torch_pickled_weights_are_not_opened(tmp_path, monkeypatch, name):
    monkeypatch.setattr("tinyvit.weights.read.find_spec", lambda package: None)
    message = complaint(weights_in, fill(tmp_path, name))
    assert f"has its weights in {name}, which can run code when it is opened" in message
