"""Models that cannot be saved, or not under that name."""

import warnings

import numpy as np
import pytest

import tinyvit
from tests.weights.checkpoints import HUGGING_FACE, complaint, random_model
from tinyvit.data.photos import PhotoFit
from tinyvit.model import Model
from tinyvit.ops.resize import METHODS
from tinyvit.training.loading import load_any
from tinyvit.weights.save import check_replaceable, save_model


@pytest.mark.parametrize(
    ("names", "why"),
    [
        (("a",), "the number of class names is 1, expected 5, one for each class: set model.classes"),
        ("abcdef", "the number of class names is 6, expected 5"),
        (range(5), "a class is called 0, expected text"),
        (None, "model.classes is None, expected one text for each class: set model.classes again, or to ()"),
    ],
)
@pytest.mark.parametrize("ending", [".npz", ""])
def test_names_that_are_not_one_for_each_class_are_not_written(tmp_path, names, why, ending):
    model = Model(*random_model(), tuple("abcde"))
    model.classes = names
    assert why in complaint(save_model, model, tmp_path / f"a{ending}")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("dtype", ["int64", "complex128", "object"])
@pytest.mark.parametrize("ending", [".npz", ".safetensors", ".onnx", ""])
def test_parameters_that_are_not_floating_point_are_not_written(tmp_path, dtype, ending):
    config, params = random_model(**HUGGING_FACE)
    message = complaint(save_model, Model(config, params.astype(dtype)), tmp_path / f"a{ending}")
    assert f"the parameters are {dtype}, expected floating-point numbers: params.astype" in message


@pytest.mark.parametrize("ending", [".npz", ".safetensors", ""])
@pytest.mark.parametrize("dtype", [">f4", "longdouble"])
def test_numbers_of_every_width_and_byte_order_are_written(tmp_path, dtype, ending):
    config, params = random_model(**HUGGING_FACE)
    save_model(Model(config, params.astype(dtype)), path := tmp_path / f"a{ending}")
    np.testing.assert_array_equal(load_any(str(path)).params.flat, params.flat)


@pytest.mark.parametrize("ending", [".npz", ".safetensors", ""])
def test_a_name_that_is_too_long_is_a_users_mistake(tmp_path, ending):
    model, path = Model(*random_model(**HUGGING_FACE)), tmp_path / ("x" * 300 + ending)
    check_replaceable(path)  # there is nothing of that name
    assert "name too long" in complaint(save_model, model, path)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("name", "layout", "classes", "fit", "left_out"),
    [
        ("a.safetensors", None, "abcde", "squash", ["names of its 5 classes", "fitting photos (squash, b"]),
        ("a.safetensors", None, "", "crop", []),
        ("a.npz", "official", "abcde", "crop", ["names of its 5 classes"]),
        ("a.npz", "official", "", "pad", ["fitting photos (pad, b"]),
        ("a.npz", None, "abcde", "pad", []),
        ("a", None, "abcde", "squash", []),
        ("a.html", None, "abcde", "squash", ["fitting photos (squash, b"]),
        ("a.html", None, "abcde", "crop", []),
    ],
)
def test_what_a_format_has_no_place_for_is_said(tmp_path, name, layout, classes, fit, left_out):
    config, params = random_model(gelu="tanh" if layout == "official" else "exact")
    model = tinyvit.Model(config, params, tuple(classes), photo_fit=PhotoFit(fit, (8, 8), (8, 8)))
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        model.save_page(tmp_path / name) if name == "a.html" else model.save(tmp_path / name, layout)
    assert len(said) == len(left_out)
    for warning, expected in zip(said, left_out, strict=True):
        message = str(warning.message)
        assert expected in message and " not included" in message and message.endswith("an .onnx file.")
        assert warning.filename == __file__


@pytest.mark.parametrize("layout", ["official", "torch", "timm", "hugging_face"])
def test_patches_that_only_training_drops_are_dropped_by_no_file(tmp_path, layout):
    gelu = "tanh" if layout == "official" else "exact"
    config, params = random_model(gelu=gelu, patch_dropout=0.5)
    path = tmp_path / {"official": "a.npz", "torch": "a.safetensors"}.get(layout, "a")
    tinyvit.Model(config, params).save(path, layout)
    images = np.random.default_rng(0).integers(0, 256, (2, 8, 8, 3), dtype=np.uint8)
    expected = tinyvit.Model(config, params).logits(images)
    np.testing.assert_allclose(tinyvit.load(path).logits(images), expected, rtol=1e-5, atol=1e-6)


def test_the_side_of_texts_is_said_not_to_be_included(tmp_path):
    model = tinyvit.Model(*random_model(predicts="embedding"), texts=tmp_path)
    with pytest.warns(UserWarning, match="its text tower is not included"):
        model.save(tmp_path / "clip.npz")


@pytest.mark.parametrize("method", METHODS)
def test_how_positions_are_resized_is_saved_with_the_model(tmp_path, method):
    save_model(Model(*random_model(), tuple("abcde"), position_resize=method), tmp_path / "a.npz")
    assert load_any(str(tmp_path / "a.npz")).position_resize == method
