"""Models that were trained on pixels of another scale see what they are used to."""

import json

import numpy as np
import pytest

from tests.weights.checkpoints import HUGGING_FACE, complaint, random_model
from tinyvit.model import forward
from tinyvit.weights.equivalent import PixelScale, for_colour
from tinyvit.weights.folders import save_hugging_face
from tinyvit.weights.preprocessing import read_pixel_scale
from tinyvit.weights.read import load_weights
from tinyvit.weights.safetensors import read_metadata, write_safetensors
from tinyvit.weights.save import save_safetensors
from tinyvit.weights.torch_names import to_torch_names

IMAGENET = {"mean": [0.485, 0.456, 0.406], "std": [0.229, 0.224, 0.225]}
HUGGING_FACES = {f"image_{name}": value for name, value in IMAGENET.items()}


@pytest.mark.parametrize(
    ("name", "stated", "mean", "std"),
    [
        ("preprocessor_config.json", HUGGING_FACES, *IMAGENET.values()),
        ("preprocessor_config.json", HUGGING_FACES | {"do_normalize": False}, [0.0] * 3, [1.0] * 3),
        (
            "preprocessor_config.json",
            HUGGING_FACES | {"do_rescale": False},
            [0.485 / 255, 0.456 / 255, 0.406 / 255],
            [0.229 / 255, 0.224 / 255, 0.225 / 255],
        ),
        (
            "preprocessor_config.json",
            HUGGING_FACES | {"rescale_factor": 1 / 127.5},
            [0.2425, 0.228, 0.203],
            [0.1145, 0.112, 0.1125],
        ),
        ("config.json", {"architecture": "test_vit", "pretrained_cfg": IMAGENET}, *IMAGENET.values()),
    ],
)
def test_a_model_of_other_pixels_computes_what_it_would_on_those(tmp_path, name, stated, mean, std):
    config, params = random_model(dtype="float64", **HUGGING_FACE)
    write_safetensors(tmp_path / "model.safetensors", to_torch_names(config, params))
    (tmp_path / name).write_text(json.dumps(stated))
    loaded, adapted = load_weights(tmp_path / "model.safetensors", heads=3, dtype="float64")
    pixels = np.random.default_rng(0).random((2, 8, 8, 3))
    ours, _ = forward(loaded, adapted, 2 * pixels - 1)
    theirs, _ = forward(loaded, params, (pixels - mean) / std)
    np.testing.assert_allclose(ours, theirs, rtol=1e-10, atol=1e-10)
    assert (adapted["patch.weight"] != params["patch.weight"]).any()


def test_a_file_of_ours_states_its_pixels_and_means_them_whatever_lies_beside_it(tmp_path):
    """As when a fine-tuned model is exported into the folder of the one that it was made from."""
    config, params = random_model(**HUGGING_FACE)
    (tmp_path / "preprocessor_config.json").write_text(json.dumps(HUGGING_FACES))
    save_safetensors(path := tmp_path / "ours.safetensors", config, params)
    assert read_metadata(path)["pixel_mean"] == read_metadata(path)["pixel_std"] == "0.5"
    assert load_weights(path)[1].flat.tobytes() == params.flat.tobytes()


def test_pixels_that_are_neither_rescaled_nor_normalised_go_from_0_to_255(tmp_path):
    stated = {"do_rescale": False, "do_normalize": False}
    (tmp_path / "preprocessor_config.json").write_text(json.dumps(stated))
    assert read_pixel_scale(tmp_path) == PixelScale((0.0,) * 3, (1 / 255,) * 3)


def test_pixels_from_minus_one_to_one_change_nothing(tmp_path):
    config, params = random_model()
    save_hugging_face(tmp_path / "model", config, params, "abcde")
    assert read_pixel_scale(tmp_path / "model") == PixelScale((0.5,) * 3, (0.5,) * 3)
    _, loaded = load_weights(tmp_path / "model" / "model.safetensors")
    assert loaded.flat.tobytes() == params.flat.tobytes()


@pytest.mark.parametrize(
    ("content", "why"),
    [
        ("{", "does not describe"),
        ("[]", "does not describe"),
        ({"image_mean": "white", "image_std": [1, 1, 1]}, "does not describe"),
        ({"image_mean": [0.5, 0.5], "image_std": [0.5, 0.5]}, "expected one number for each channel"),
        ({"image_mean": [0, 0, 0], "image_std": [1, 0, 1]}, "std above 0"),
        ({"image_mean": [0, 0, 1e999], "image_std": [1, 1, 1]}, "one number for each channel"),
    ],
)
def test_an_invalid_scale_is_one_clear_line(tmp_path, content, why):
    text = content if isinstance(content, str) else json.dumps(content)
    (tmp_path / "preprocessor_config.json").write_text(text)
    assert why in complaint(read_pixel_scale, tmp_path)


def test_a_folder_that_says_nothing(tmp_path):
    assert read_pixel_scale(tmp_path) is None
    (tmp_path / "config.json").write_text('{"hidden_size": 12}')
    assert read_pixel_scale(tmp_path) is None


@pytest.mark.parametrize(
    "stated", [{"image_mean": [0.3], "image_std": [0.2]}, {"image_mean": [0.3] * 3, "image_std": [0.2] * 3}]
)
def test_a_grey_model_takes_one_number_or_three_alike(tmp_path, stated):
    config, params = random_model(dtype="float64", channels=1, **HUGGING_FACE)
    write_safetensors(tmp_path / "model.safetensors", to_torch_names(config, params))
    (tmp_path / "preprocessor_config.json").write_text(json.dumps(stated))
    loaded, adapted = load_weights(tmp_path / "model.safetensors", heads=3, dtype="float64")
    pixels = np.random.default_rng(0).random((2, 8, 8, 1))
    ours, _ = forward(loaded, adapted, 2 * pixels - 1)
    theirs, _ = forward(loaded, params, (pixels - 0.3) / 0.2)
    np.testing.assert_allclose(ours, theirs, rtol=1e-10, atol=1e-10)


def test_a_scale_for_other_channels_is_refused(tmp_path):
    model = random_model(channels=1, **HUGGING_FACE)
    write_safetensors(tmp_path / "model.safetensors", to_torch_names(*model))
    (tmp_path / "preprocessor_config.json").write_text(json.dumps(HUGGING_FACES))
    message = complaint(load_weights, tmp_path / "model.safetensors", heads=3)
    assert "1-channel images, but the files beside it state the pixel scale of 3 channels" in message


def test_a_model_for_colour_photos_is_unchanged():
    config, params = random_model()
    assert for_colour(config, params) == (config, params)
    with pytest.raises(ValueError, match="4 channels"):
        for_colour(*random_model(channels=4))
