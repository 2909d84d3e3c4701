"""A second save or export takes the place of the first, and of nothing else."""

import os
import shutil
import zipfile

import numpy as np
import pytest

import tinyvit
from tests.tiny_runs import assert_one_line
from tests.weights.checkpoints import HUGGING_FACE
from tinyvit import export
from tinyvit.support.errors import UserError

NAMES = ["a.npz", "a.safetensors", "a.onnx", "a", "a.html"]


@pytest.fixture
def save(tmp_path):
    """save(NAME, seed) writes a model with the parameters of that seed, or its page, and returns the path."""

    def save(name, seed, layout=None):
        model = tinyvit.preset("nano/4", 8, 2, seed=seed, **HUGGING_FACE if name != "a.npz" else {})
        if name == "a.onnx":
            pytest.importorskip("onnx", reason="writing an .onnx file needs the package onnx")
        model.save_page(tmp_path / name) if name == "a.html" else model.save(tmp_path / name, layout)
        return tmp_path / name

    return save


def contents(path):
    """Every file at or below a path; of an .npz, whose zip has the time of writing, the numbers."""
    if path.suffix == ".npz" and zipfile.is_zipfile(path):
        return tinyvit.load(path).params.flat.tobytes()
    return {file.name: file.read_bytes() for file in (path, *path.rglob("*")) if file.is_file()}


@pytest.mark.parametrize("name", NAMES)
def test_a_second_save_takes_the_place_of_the_first_and_leaves_nothing_else(save, tmp_path, name):
    first, second, again = (contents(save(name, seed)) for seed in (1, 2, 1))
    assert first == again != second
    assert [path.name for path in tmp_path.iterdir()] == [name]


def test_the_layouts_of_an_npz_take_each_others_place(save):
    both = [contents(save("a.npz", 1, layout)) for layout in ("official", "tinyvit", "official")]
    assert both[0] == both[1] == both[2]


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("what", ["text", "folder", "dangling link"])
def test_nothing_else_is_overwritten(save, tmp_path, name, what):
    path = tmp_path / name
    if what == "text":
        path.write_text("precious " * 1000)
    elif what == "folder":
        (save("a", 1) if name == "a" else path).mkdir(exist_ok=True)
        (path / "notes.txt").write_text("precious")
    elif os.name == "nt":
        pytest.skip("making a link needs special rights there")
    else:
        path.symlink_to("another disk that is not there now")
    before = contents(path)
    with pytest.raises(UserError, match=rf"{name} already exists and will not be overwritten: only a model"):
        save(name, 2)
    assert contents(path) == before


def test_nor_are_data_or_the_weights_of_others(save, tmp_path):
    np.savez(tmp_path / "a.npz", images=np.zeros(3))
    for name in ("a.npz", "a.safetensors"):
        if name != "a.npz":  # as other programs write it
            path = save(name, 1)
            path.write_bytes(path.read_bytes().replace(b'"writer":"tinyvit"', b'"writer":"another"'))
        with pytest.raises(UserError, match="already exists"):
            save(name, 2)


@pytest.mark.parametrize("name", ["best.npz", "last.npz"])
def test_nor_are_the_checkpoints_of_a_run(go, trained, tmp_path, name):
    run = shutil.copytree(trained, tmp_path / "run")
    for out in (run / name, run):
        assert_one_line(go(export, trained, out), f"{out} already exists")
    assert (run / name).read_bytes() == (trained / name).read_bytes()


@pytest.mark.parametrize("name", ["b.npz", "b.html", "b"])
def test_an_export_is_replaced_as_a_save_is(go, trained, tmp_path, name):
    for _ in range(2):
        status, _, err = go(export, trained, tmp_path / name)
        assert (status, err) == (0, "")
    assert [path.name for path in tmp_path.iterdir()] == [name]


@pytest.mark.parametrize("name", NAMES)
def test_a_save_that_fails_leaves_the_one_before(save, tmp_path, monkeypatch, name):
    before = contents(save(name, 1))

    def full(*arguments):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(UserError, match="No space left on device"):
        save(name, 2)
    monkeypatch.undo()
    assert contents(tmp_path / name) == before
