"""Only regular files are opened, and only as much is read as makes sense."""

import os

import pytest

from tests.data.scenes import seen
from tests.weights.checkpoints import complaint
from tinyvit.support import files
from tinyvit.support.files import open_regular, parse_json, read_json
from tinyvit.support.files.npz import read_npz
from tinyvit.weights.checkpoint import load_checkpoint
from tinyvit.weights.safetensors import read_safetensors

needs_pipes = pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="Windows has no named pipes")


@needs_pipes
@pytest.mark.parametrize("read", [open_regular, read_npz, read_safetensors, load_checkpoint])
def test_a_pipe_is_refused_without_waiting_for_a_writer(tmp_path, read):
    os.mkfifo(tmp_path / "a.npz")
    with pytest.raises((OSError, ValueError), match="pipe or a device"):
        read(tmp_path / "a.npz")


@needs_pipes
def test_a_pipe_instead_of_a_photo_is_named(tmp_path):
    os.mkfifo(tmp_path / "a.png")
    assert "a.png cannot be read as an image (it is a pipe" in complaint(seen, tmp_path / "a.png", 8)


def test_a_folder_is_not_a_file(tmp_path):
    with pytest.raises(IsADirectoryError):
        open_regular(tmp_path)


def test_a_text_that_is_too_long_is_not_read(tmp_path, monkeypatch):
    monkeypatch.setattr(files, "LARGEST_TEXT", 10)
    (tmp_path / "a.json").write_text("[1, 2, 3]")
    assert read_json(tmp_path / "a.json") == [1, 2, 3]
    (tmp_path / "a.json").write_text("[1, 2, 3, 4]")
    with pytest.raises(ValueError, match="more than 10 bytes"):
        read_json(tmp_path / "a.json")


@pytest.mark.parametrize(
    "text", ["[" * 100_000, '{"a":' * 100_000, "1" * 5000, "[" + "1" * 101 + "]", "{", "", "\ud800"]
)
def test_what_is_no_json_is_a_value_error(text):
    with pytest.raises(ValueError):
        parse_json(text)
