"""Exporting: what is written computes the same where it is read again, and nothing is overwritten."""

import json

import numpy as np
import pytest

from tests.tiny_runs import assert_one_line
from tests.weights.checkpoints import EXACT, HUGGING_FACE, assert_same, random_model
from tinyvit import export, predict, train
from tinyvit.data.photos import PhotoFit
from tinyvit.support.errors import UserError
from tinyvit.training.loading import load_any
from tinyvit.training.run_folder import RunFolder
from tinyvit.weights.checkpoint import Checkpoint, save_checkpoint
from tinyvit.weights.folders import save_hugging_face
from tinyvit.weights.read import load_weights
from tinyvit.weights.save import save_official, save_safetensors


@pytest.mark.parametrize("name", ["out.npz", "folder"])
def test_a_run_is_the_same_model_in_every_form(go, trained, tmp_path, name):
    status, out, err = go(export, trained, tmp_path / name)
    assert (status, err) == (0, "")
    checkpoint = RunFolder.open(trained).load("best")
    assert f"wrote {tmp_path / name}: {checkpoint.params.count:,} parameters" in out
    file = tmp_path / name / "model.safetensors" if name == "folder" else tmp_path / name
    assert_same(load_weights(file), (checkpoint.config, checkpoint.params))


def test_the_other_checkpoint_and_another_resolution(go, trained, tmp_path):
    flags = ("--checkpoint", "last", "--resolution", "16")
    assert go(export, trained, tmp_path / "out.npz", *flags)[0] == 0
    config, params = load_weights(tmp_path / "out.npz")
    last = RunFolder.open(trained).load("last").params
    assert config.image_size == (16, 16)
    np.testing.assert_array_equal(params["head.weight"], last["head.weight"])


@pytest.mark.parametrize("arithmetic", [EXACT, HUGGING_FACE], ids=["timm", "Hugging Face"])
def test_safetensors_for_the_library_that_computes_so(go, tmp_path, arithmetic):
    model = random_model(**arithmetic)
    save_safetensors(tmp_path / "in.safetensors", *model)
    words = (tmp_path / "in.safetensors", tmp_path / "out.safetensors", "--heads", "3")
    assert go(export, *words)[0] == 0
    assert_same(load_weights(tmp_path / "out.safetensors", heads=3), model)


@pytest.mark.parametrize("changes", [{}, EXACT, {"eps": 1e-5, "image_size": (8, 12)}], ids=str)
def test_a_folder_says_what_the_arrays_cannot(go, tmp_path, changes):
    """Without --heads, and whatever GELU and epsilon are: config.json tells."""
    config, params = random_model(**changes)
    fit = PhotoFit("squash", config.image_size, config.image_size)
    save_hugging_face(tmp_path / "out", config, params, "abcde", fit)
    assert_same(load_weights(tmp_path / "out" / "model.safetensors"), (config, params))
    stated = json.loads((tmp_path / "out" / "config.json").read_text())
    assert stated["id2label"] == {"0": "a", "1": "b", "2": "c", "3": "d", "4": "e"}
    assert stated["label2id"] == {"a": 0, "b": 1, "c": 2, "d": 3, "e": 4}


@pytest.mark.parametrize("gelu", ["exact", "tanh"])
@pytest.mark.parametrize(("pool", "flags"), [("mean", ()), ("token", ("--layout", "timm"))])
def test_a_folder_for_timm_says_what_the_arrays_cannot(go, tmp_path, pool, gelu, flags):
    """timm itself opens such folders in tests/golden/test_timm.py."""
    config, params = random_model(pool=pool, gelu=gelu, image_size=(8, 12), mlp_width=7)
    whole = Checkpoint(config, params, classes=tuple("abcde"))
    save_checkpoint(tmp_path / "in.npz", whole)
    _, out, _ = go(export, tmp_path / "in.npz", tmp_path / "out", *flags)
    assert f'open it with timm.create_model("local-dir:{tmp_path / "out"}", pretrained=True)' in out
    assert_same(load_weights(tmp_path / "out" / "model.safetensors"), (config, params))
    assert load_any(str(tmp_path / "out")).classes == tuple("abcde")


def test_a_file_for_timm_says_how_its_pixels_are_scaled(go, tmp_path):
    save_checkpoint(tmp_path / "in.npz", Checkpoint(*random_model(**EXACT)))
    _, out, _ = go(export, tmp_path / "in.npz", tmp_path / "out.safetensors")
    assert "it expects pixels from -1 to 1 (for timm: mean=0.5, std=0.5)" in out


@pytest.mark.parametrize(("name", "said"), [("out.npz", True), ("folder", False)])
def test_class_names_that_a_format_cannot_hold_are_mentioned(go, trained, tmp_path, name, said):
    _, out, _ = go(export, trained, tmp_path / name)
    assert ("the names of its 2 classes are not included" in out) == said


@pytest.mark.parametrize(("name", "said"), [("out.npz", True), ("folder", False)])
@pytest.mark.parametrize("usual", [True, False])
def test_a_way_of_fitting_photos_that_a_format_cannot_hold_is_mentioned(go, tmp_path, name, said, usual):
    config, params = random_model()
    fit = PhotoFit("crop" if usual else "squash", config.image_size, config.image_size)
    save_hugging_face(tmp_path / "in", config, params, "abcde", fit)
    _, out, _ = go(export, tmp_path / "in", tmp_path / name)
    assert ("way of fitting photos (squash, bicubic) is not included" in out) == (said and not usual)


def test_only_formats_that_can_hold_the_model_are_recommended(go, trained, tmp_path):
    _, out, _ = go(export, trained, tmp_path / "token.npz")
    kept = (
        "no place for them: to keep them, write a folder for Hugging Face, a folder for timm or an .onnx file"
    )
    assert f"{kept}\n" in out
    config, params = random_model(pre_logits=3)
    fit = PhotoFit("squash", config.image_size, config.image_size)
    save_checkpoint(tmp_path / "in.npz", Checkpoint(config, params, classes=tuple("abcde"), photo_fit=fit))
    _, out, _ = go(export, tmp_path / "in.npz", tmp_path / "pre.npz")
    assert "no place for them: to keep them, write an .onnx file\n" in out
    assert "(squash, bicubic) is not included: to keep it, write an .onnx file\n" in out


def test_a_model_with_mean_pooling_is_recommended_a_folder(go, tmp_path):
    config, params = random_model(pool="mean")
    save_checkpoint(tmp_path / "in.npz", Checkpoint(config, params, classes=tuple("abcde")))
    _, out, _ = go(export, tmp_path / "in.npz", tmp_path / "mean.npz")
    assert "no place for them: to keep them, write a folder for timm or an .onnx file\n" in out


def test_names_of_imagenet_are_known_without_being_written(go, tmp_path):
    config, params = random_model(classes=1000)
    save_official(tmp_path / "in.npz", config, params)
    assert go(export, tmp_path / "in.npz", tmp_path / "out.npz")[1].count("\n") == 1


def test_the_names_of_the_classes_go_along(go, trained, photos, tmp_path):
    assert go(export, trained, tmp_path / "folder")[0] == 0
    image = next((photos / "red").iterdir())
    assert go(predict, "--weights", tmp_path / "folder", image) == go(predict, trained, image)


def test_what_cannot_be_written_is_one_line(go, trained, tmp_path):
    (tmp_path / "there.npz").write_text("mine")
    save_official(tmp_path / "mean.npz", *random_model(pool="mean"))
    before = sorted(tmp_path.iterdir())
    assert_one_line(go(export, trained, tmp_path / "there.npz"), "there.npz already exists")
    endings = (".safetensors", ".html for a page")
    assert_one_line(go(export, trained, tmp_path / "a.pt"), "a.pt ends in .pt", *endings)
    assert_one_line(go(export, trained, tmp_path / "a.safetensors"), "write an .npz", "neither timm's")
    to_hugging_face = (tmp_path / "mean.npz", tmp_path / "a", "--layout", "hugging_face")
    assert_one_line(go(export, *to_hugging_face), "pool 'mean'", ".npz", "a folder for timm")
    assert_one_line(
        go(export, trained, tmp_path / "a.npz", "--layout", "timm"), "does not suit the layout timm"
    )
    assert_one_line(go(export, trained, tmp_path / "a.html", "--layout", "timm"), "--layout is for files")
    for flags in (("--no-samples",), ("--data-dir", tmp_path)):
        assert_one_line(go(export, trained, tmp_path / "a.npz", *flags), "are for a page")
    assert_one_line(go(export, tmp_path / "none", tmp_path / "a"), "is not a run folder")
    assert_one_line(go(export, trained, tmp_path / "there.npz" / "a"), "cannot create the folder")
    assert sorted(tmp_path.iterdir()) == before
    assert (tmp_path / "there.npz").read_text() == "mine"


def test_half_a_folder_is_not_left_behind(tmp_path, monkeypatch):
    def full(*_):
        raise UserError("the disk is full.")

    monkeypatch.setattr("tinyvit.weights.folders.write_atomically", full)
    with pytest.raises(UserError, match="full"):
        save_hugging_face(tmp_path / "a" / "b", *random_model(), "abcde")
    assert not (tmp_path / "a" / "b").exists()


def test_a_folder_that_cannot_be_filled_is_called_by_its_own_name(tmp_path, monkeypatch):
    def full(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("os.fsync", full)
    with pytest.raises(UserError) as caught:
        save_hugging_face(tmp_path / "b", *random_model(), "abcde")
    assert f"cannot write {tmp_path / 'b' / 'model.safetensors'}: No space left" in str(caught.value)


def test_a_hugging_face_folder_is_not_a_run_to_resume(go, trained, tmp_path):
    assert go(export, trained, tmp_path / "model")[0] == 0
    words = "is not a run folder but a Hugging Face model", "--weights"
    assert_one_line(go(train, "--resume", tmp_path / "model"), *words)


def test_the_ending_may_be_in_capitals(go, trained, tmp_path):
    assert go(export, trained, tmp_path / "A.NPZ")[0] == 0
    load_weights(tmp_path / "A.NPZ")


def test_a_folder_that_does_not_exist_is_refused(go, trained, tmp_path):
    assert_one_line(go(export, trained, tmp_path / "no" / "a.npz"), f"there is no folder {tmp_path / 'no'}")
