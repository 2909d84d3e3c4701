"""ONNX: a file computes what the model does, for models of every kind, and says what it is."""

import json
import sys
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings

from tests.helpers import any_models, distance, seeds, tiny_config
from tests.tiny_runs import assert_one_line
from tests.weights.checkpoints import complaint, random_model
from tinyvit import export, load
from tinyvit.data import normalise
from tinyvit.data.photos import PhotoFit
from tinyvit.gradcheck.models import MODEL_CHECKS, random_params
from tinyvit.model import Model, ViTConfig, infer
from tinyvit.weights import onnx_file
from tinyvit.weights.onnx_file import save_onnx
from tinyvit.weights.save import save_model

HOW = "install it with: pip install 'tinyvit[onnx]'"


@pytest.fixture(scope="module")
def onnx():
    return pytest.importorskip("onnx", reason=f"onnx is not installed; {HOW}")


@pytest.fixture(scope="module")
def runtime():
    return pytest.importorskip("onnxruntime", reason=f"onnxruntime is not installed; {HOW}")


def test_a_causal_model_is_refused(tmp_path):
    config = tiny_config(causal=True, pool="mean")
    params = random_params(config, np.random.default_rng(0))
    assert "causal" in complaint(lambda: save_onnx(tmp_path / "model.onnx", config, params, []))


def assert_computes_the_same(runtime, config, params, path, rng, pixels=(0, 256)):
    """For one image and for several, onnxruntime gives the logits and probabilities of the model."""
    save_onnx(path, config, params, [str(c) for c in range(config.classes)])
    session = runtime.InferenceSession(path)
    for count in (1, 3):
        images = rng.integers(*pixels, (count, *config.image_size, config.channels), dtype=np.uint8)
        logits, probabilities = session.run(["logits", "probabilities"], {"images": images})
        expected = infer(config, params, normalise(images, np.dtype("float32")))
        np.testing.assert_allclose(logits, expected, rtol=1e-5, atol=1e-5)
        assert np.ptp(expected) > 1e-3  # not a comparison of zeros
        exp = np.exp(expected - expected.max(axis=1, keepdims=True))
        np.testing.assert_allclose(probabilities, exp / exp.sum(axis=1, keepdims=True), atol=1e-5)


KINDS = {check.name: check.config for check in MODEL_CHECKS if not check.target} | {
    "official ResNet": ViTConfig(
        (33, 40), 1, 128, 0, 0, 0, 3, pool="mean", position="none", resnet=(1, 2, 1), resnet_width=8,
        resnet_groups=4,
    ),
    "hybrid as in timm": tiny_config(
        image_size=(32, 48), patch_size=1, resnet=(1, 1), resnet_width=8, resnet_groups=4, resnet_form="timm"
    ),
    "shared scores of offsets": tiny_config(position="bias", position_at="shared"),
    "epsilon of Hugging Face": tiny_config(gelu="exact", eps=1e-12),
}  # fmt: skip


@pytest.mark.parametrize("name", KINDS)
def test_every_kind_of_model(onnx, runtime, tmp_path, name):
    config, rng = KINDS[name], np.random.default_rng(1)
    params = random_params(config, rng, "float32")
    assert_computes_the_same(runtime, config, params, tmp_path / "a.onnx", rng)
    onnx.checker.check_model(onnx.load(tmp_path / "a.onnx"), full_check=True)


@settings(max_examples=60)
@given(config=any_models(), seed=seeds())
def test_every_choice_of_options(onnx, runtime, tmp_path_factory, config, seed):
    """A file computes what float64 computes, or there is none: of causal models, and of predicted patches."""
    rng, path = np.random.default_rng(seed), tmp_path_factory.mktemp("onnx") / "a.onnx"
    params = random_params(config, rng, "float32")
    model = Model(config, params, tuple(map(str, range(config.classes))))
    if config.causal or config.predicts_patches:
        assert complaint(save_model, model, path) and not path.exists()
        return
    save_model(model, path)
    images = rng.integers(0, 256, (3, *config.image_size, config.channels), dtype=np.uint8)
    (logits,) = runtime.InferenceSession(path).run(["logits"], {"images": images})
    exact = infer(config, params.astype("float64"), normalise(images, np.dtype("float64")))
    rounding = distance(infer(config, params, normalise(images, np.dtype("float32"))), exact)
    assert distance(logits, exact) < 1e-5 + 10 * rounding


def test_merging_patches_adds_no_matrix_to_a_file(onnx, tmp_path):
    """One that took the means would have a row for each square and a column for each patch."""
    config = tiny_config(image_size=64)
    params = random_params(config, np.random.default_rng(0), "float32")
    for merge_after in (0, 1):
        save_onnx(tmp_path / f"{merge_after}.onnx", replace(config, merge_after=merge_after), params, [])
    plain, merging = ((tmp_path / f"{merge_after}.onnx").stat().st_size for merge_after in (0, 1))
    assert merging - plain < 3_000


@pytest.mark.parametrize("form", ["official", "timm"])
def test_epsilons_are_those_of_the_model(runtime, tmp_path, form):
    """They show where little varies: in small kernels, and in images of nearly one grey."""
    config = tiny_config(image_size=16, patch_size=1, resnet=(1,), resnet_width=8, resnet_groups=4, eps=0.1)
    config, rng = replace(config, resnet_form=form), np.random.default_rng(2)
    params = random_params(config, rng, "float32")
    for name in params:
        if ".conv" in name:
            params[name] *= 1e-3
    assert_computes_the_same(runtime, config, params, tmp_path / "a.onnx", rng, pixels=(127, 129))


@pytest.mark.parametrize("form", ["tanh", "exact"])
def test_gelu_is_that_of_the_model(runtime, tmp_path, form):
    """The forms and their constants show in numbers of about 2 or 3."""
    config, rng = tiny_config(gelu=form, layers=1), np.random.default_rng(2)
    params = random_params(config, rng, "float32")
    params["blocks.0.mlp.fc1.weight"] *= 3
    assert_computes_the_same(runtime, config, params, tmp_path / "a.onnx", rng)


def test_a_trained_run(go, onnx, runtime, trained, tmp_path):
    status, out, err = go(export, trained, tmp_path / "out.ONNX")
    model = load(trained)
    assert (status, err) == (0, "")
    assert out == f"wrote {tmp_path / 'out.ONNX'}: {model.params.count:,} parameters\n"
    assert_one_line(go(export, trained, tmp_path / "no" / "a.onnx"), f"there is no folder {tmp_path / 'no'}")
    images = np.random.default_rng(0).integers(0, 256, (5, 8, 8, 3), dtype=np.uint8)
    session = runtime.InferenceSession(tmp_path / "out.ONNX")
    logits, probabilities = session.run(None, {"images": images})
    np.testing.assert_allclose(logits, model.logits(images), rtol=1e-5, atol=1e-5)
    np.testing.assert_allclose(probabilities, model.probabilities(images), atol=1e-5)
    assert json.loads(session.get_modelmeta().custom_metadata_map["classes"]) == ["blue", "red"]


def test_it_says_what_goes_in_and_what_comes_out(onnx, tmp_path):
    fit = PhotoFit("squash", (16, 24), (8, 12), "bilinear")
    model = Model(*random_model(image_size=(4, 8)), ("a", "ä", "星", "d", "e"))
    save_model(model, tmp_path / "a.onnx", fit=fit)
    file = onnx.load(tmp_path / "a.onnx")
    ports = [
        (port.name, port.type.tensor_type.elem_type, [axis.dim_param or axis.dim_value for axis in axes])
        for port in (*file.graph.input, *file.graph.output)
        for axes in [port.type.tensor_type.shape.dim]
    ]
    assert ports == [
        ("images", onnx.TensorProto.UINT8, ["batch", 4, 8, 3]),
        ("logits", onnx.TensorProto.FLOAT, ["batch", 5]),
        ("probabilities", onnx.TensorProto.FLOAT, ["batch", 5]),
    ]
    metadata = {entry.key: json.loads(entry.value) for entry in file.metadata_props}
    photos = {"fit": "squash", "frame": [8, 16], "size": [4, 8], "resample": "bilinear"}
    photos |= {"library": "tinyvit", "border": [128, 128, 128], "edge": [0, 0]}
    assert metadata == {"classes": ["a", "ä", "星", "d", "e"], "photos": photos}
    assert (file.producer_name, file.opset_import[0].version) == ("tinyvit", 17)


def test_parameters_keep_their_names_and_are_stored_once(onnx, tmp_path):
    config, params = random_model(position_at="shared", layers=3)
    save_onnx(tmp_path / "a.onnx", config, params, "abcde")
    stored = [each.name for each in onnx.load(tmp_path / "a.onnx").graph.initializer]
    assert len(set(stored)) == len(stored)
    assert set(params) <= set(stored)


def test_what_cannot_be_written_is_one_line(go, trained, tmp_path, monkeypatch):
    (tmp_path / "there.onnx").write_text("mine")
    patches = Model(*random_model(predicts="patches"))
    assert_one_line(go(export, trained, tmp_path / "there.onnx"), "there.onnx already exists")
    assert "predicts patches" in complaint(save_model, patches, tmp_path / "a.onnx")
    monkeypatch.setattr(onnx_file, "LARGEST", 1000)
    message = complaint(save_onnx, tmp_path / "a.onnx", *random_model(), "abcde")
    assert "3,117 parameters" in message and "holds 250 at most" in message
    assert [path.name for path in tmp_path.iterdir()] == ["there.onnx"]


def test_without_the_package_one_line_says_what_to_install(go, trained, tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "onnx", None)
    assert_one_line(go(export, trained, tmp_path / "a.onnx"), "run pip install onnx.")
    assert not list(tmp_path.iterdir())


def test_an_onnx_file_is_not_read(tmp_path):
    (tmp_path / "a.onnx").write_bytes(b"")
    assert "writes but does not read: give the run" in complaint(load, tmp_path / "a.onnx")
