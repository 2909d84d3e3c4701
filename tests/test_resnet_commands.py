"""A ResNet on its own through every command: each takes it, or refuses it in one line."""

import json

import numpy as np
import pytest
from PIL import Image

import tinyvit
from tests.tiny_runs import assert_one_line, assert_same_run, tiny
from tinyvit import bench, evaluate, export, fewshot, finetune, info, predict, train, visualize
from tinyvit.estimator import ViTClassifier
from tinyvit.model import ViTConfig
from tinyvit.model import presets as presets_module
from tinyvit.support.errors import UserError


@pytest.fixture(scope="module", autouse=True)
def small():
    """Here, resnet-nano is small: what is tested does not depend on its size."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setitem(presets_module.RESNETS, "nano", presets_module.ResNet((1, 1), 8, 4))
        yield


@pytest.fixture
def resnet(go, photos, tmp_path):
    """A run of a ResNet, two steps long."""
    flags = ("--model", "resnet-nano", "--steps", "2", "--threads", "2")
    status, out, err = go(train, *tiny(photos, tmp_path / "run", *flags))
    assert (status, err) == (0, "")
    assert "resnet-nano, " in out and "vit-" not in out and "--attention" not in out
    return tmp_path / "run"


def test_a_run_and_what_can_be_done_with_it(go, resnet, photos, tmp_path):
    photo = next(photos.rglob("*.png"))
    assert ViTConfig(**json.loads((resnet / "config.json").read_text("utf-8"))["model"]).layers == 0
    for command, *flags in (
        (evaluate, resnet),
        (predict, resnet, photo),
        (info, resnet),
        (finetune, resnet, "--resolution", "16", "--steps", "1", "--out", tmp_path / "tuned", *data(photos)),
        (fewshot, resnet, "--shots", "2", "--seeds", "1", *data(photos)),
    ):
        status, out, err = go(command, *flags)
        assert (status, err) == (0, ""), (command, err)
    assert json.loads((tmp_path / "tuned" / "config.json").read_text("utf-8"))["model"]["image_size"] == [
        16,
        16,
    ]
    status, out, _ = go(visualize, resnet)
    assert status == 0 and "it shows filters only" in out
    with Image.open(resnet / "inside.png") as picture:
        assert picture.height > picture.width
    refusal = go(predict, resnet, photo, "--attention", tmp_path / "a.png")
    assert_one_line(refusal, "no attention to show")
    assert refusal[1] == ""  # before anything is predicted
    for name in ("a.npz", "a.safetensors", "a"):
        assert_one_line(go(export, resnet, tmp_path / name), "ResNet")
        assert not (tmp_path / name).exists()


def data(photos):
    return "--dataset", "folder", "--data-dir", photos


def test_the_same_settings_give_the_same_bits_on_threads(go, resnet, photos, tmp_path):
    again = tmp_path / "again"
    assert go(train, "--config", resnet / "config.json", "--out", again)[0] == 0
    assert_same_run(again, resnet)


def test_what_a_resnet_does_not_have_is_refused_in_one_line(go, photos, tmp_path):
    for flags, part in (
        (("--pool", "token"), "pool is 'token', but must be 'mean'"),
        (("--dropout", "0.1"), "only a Transformer has dropout"),
        (("--drop-path", "0.1"), "only blocks of a Transformer"),
        (("--mlp-width", "8"), "has no blocks of that shape: omit --mlp-width"),
    ):
        assert_one_line(go(train, *tiny(photos, tmp_path / "run", "--model", "resnet-nano", *flags)), part)


def test_bench_times_it(go):
    flags = ("--batch-size", "4", "--rounds", "1", "--steps", "1", "--threads", "1", "--json")
    status, out, err = go(bench, "--model", "resnet-nano", *flags)
    assert (status, err) == (0, "") and json.loads(out)["sides"][0]["images_per_second"] > 0


def test_from_python(tmp_path):
    model, images = tinyvit.preset("resnet-nano", 16, ("a", "b")), np.zeros((3, 16, 16, 3), "uint8")
    assert repr(model).startswith("Model(ResNet with stages of 1, 1 units, width 64, images of 16 x 16, 2")
    model.fit(images, [0, 1, 0], epochs=1, batch_size=3)
    assert model.features(images).shape == (3, 64) and model.logits(images).shape == (3, 2)
    for look in (model.attention, model.attention_map):
        with pytest.raises(UserError, match="a ResNet has no attention to show"):
            look(images)
    model.save(tmp_path / "model.npz")
    np.testing.assert_array_equal(tinyvit.load(tmp_path / "model.npz").logits(images), model.logits(images))
    larger = model.at_resolution(32)
    assert larger.config.image_size == (32, 32) and (larger.params.flat == model.params.flat).all()


def test_as_a_classifier():
    X, y = np.full((4, 8, 8, 3), [0, 128, 255], "uint8"), [0, 1, 0, 1]
    classifier = ViTClassifier(model="resnet-nano", epochs=1, batch_size=2, threads=1)
    classifier = classifier.fit(X, y)
    assert not classifier.model_.config.has_transformer
    with pytest.raises(ValueError, match="resnet-nano is the name of a whole model: omit patch_size"):
        ViTClassifier(model="resnet-nano", patch_size=4).fit(X, y)
