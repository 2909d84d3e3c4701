"""tinyvit against transformers, through the files that transformers writes."""

import importlib

import numpy as np
import pytest
from PIL import Image

from tests.data.scenes import scene
from tests.golden.library_answers import (
    HERE,
    TOLERANCE,
    answers_to,
    assert_gradients_agree,
    assert_written_back_to_the_bit,
    error,
    gradients_of_file,
    logits_of_file,
    weights_of,
)
from tests.weights.checkpoints import random_model
from tinyvit import load
from tinyvit.data.photos import PhotoFit, read_photo
from tinyvit.model import ViTConfig, forward
from tinyvit.weights.folders import save_hugging_face
from tinyvit.weights.torch_names import to_torch_names

every_dtype = pytest.mark.parametrize("dtype", TOLERANCE)


def file_of(name):
    return HERE / "huggingface" / name / "model.safetensors"


@every_dtype
@pytest.mark.parametrize("name", ["vit", "vit_tanh", "vit_bfloat16"])
def test_logits_are_those_of_hugging_face(name, dtype):
    found = answers_to("huggingface", name)
    assert error(logits_of_file(file_of(name), found["images"], dtype), found[dtype]) < TOLERANCE[dtype]


@every_dtype
@pytest.mark.parametrize("name", ["vit_model", "dinov2"])
def test_a_file_without_a_head_gives_the_features_of_hugging_face(name, dtype):
    found = answers_to("huggingface", name)
    features = logits_of_file(file_of(name), found["images"], dtype, features=True)
    assert error(features, found[dtype]) < TOLERANCE[dtype]
    config, params = weights_of(file_of(name))
    assert config.classes == 1 and not params["head.weight"].any()


@every_dtype
def test_gradients_are_those_of_pytorch(dtype):
    found = answers_to("huggingface", "vit")
    config, grads = gradients_of_file(file_of("vit"), found, dtype)
    assert_gradients_agree(to_torch_names(config, grads), found, TOLERANCE[dtype])


def test_a_file_of_hugging_face_is_written_back_to_the_bit(tmp_path):
    assert_written_back_to_the_bit(file_of("vit"), tmp_path)


def test_the_description_beside_the_file_is_heeded():
    config, _ = weights_of(file_of("vit_tanh"))
    assert (config.gelu, config.eps, config.heads) == ("tanh", 1e-6, 4)
    config, _ = weights_of(file_of("vit"))
    assert (config.gelu, config.eps, config.image_size) == ("exact", 1e-12, (8, 12))
    config, _ = weights_of(file_of("vit"), heads=2, image_size=(24, 4))
    assert (config.heads, config.image_size) == (2, (24, 4))


@pytest.mark.parametrize("change", [{"eps": 1e-4}, {"gelu": "tanh"}, {"heads": 2}])
def test_another_arithmetic_would_not_pass(change):
    found = answers_to("huggingface", "vit")
    config, params = weights_of(file_of("vit"))
    changed = ViTConfig(**(config.as_dict() | change))
    assert error(forward(changed, params, found["images"])[0], found["float32"]) > TOLERANCE["float32"]


@pytest.mark.parametrize("fit", ["crop", "squash"])
@pytest.mark.parametrize("photo", [(300, 200), (97, 131), (200, 251)])
def test_hugging_face_prepares_photos_as_tinyvit_does(photo, fit, tmp_path):
    """With Pillow; torchvision, which they prefer if it is installed, rounds a few greys otherwise."""
    transformers = pytest.importorskip("transformers", reason="needs transformers and PyTorch")
    config, params = random_model(image_size=24)
    fit = None if fit == "crop" else PhotoFit(fit, (27, 27), (24, 24))
    save_hugging_face(tmp_path / "model", config, params, "abcde", fit)
    scene(*photo).save(tmp_path / "photo.png")
    processor = transformers.AutoImageProcessor.from_pretrained(tmp_path / "model", backend="pil")
    theirs = processor(
        Image.open(tmp_path / "photo.png"), return_tensors="np", do_rescale=False, do_normalize=False
    )
    ours = read_photo(tmp_path / "photo.png", 24, fit).view
    np.testing.assert_array_equal(ours, theirs["pixel_values"][0].transpose(1, 2, 0))


def test_dinov2_runs_at_the_size_of_its_photos(tmp_path):
    """Its table of positions is for another size, and the published answer is for that of the photos."""
    transformers = pytest.importorskip("transformers", reason="needs transformers and PyTorch")
    torch = pytest.importorskip("torch")
    randomise = importlib.import_module("tests.golden.torch_library").randomise
    settings = {"hidden_size": 16, "num_hidden_layers": 2, "num_attention_heads": 4, "patch_size": 4}
    theirs = randomise(
        transformers.Dinov2Model(transformers.Dinov2Config(**settings, image_size=36)), 1
    ).eval()
    theirs.save_pretrained(tmp_path)
    (tmp_path / "preprocessor_config.json").write_text(
        '{"image_processor_type": "BitImageProcessor", "size": {"shortest_edge": 20}, "crop_size": 16, '
        '"image_mean": [0.485, 0.456, 0.406], "image_std": [0.229, 0.224, 0.225]}'
    )
    scene(97, 131).save(tmp_path / "photo.png")
    processor = transformers.AutoImageProcessor.from_pretrained(tmp_path, backend="pil")
    with torch.no_grad():
        found = theirs(**processor(Image.open(tmp_path / "photo.png"), return_tensors="pt"))
    ours = load(tmp_path).features(tmp_path / "photo.png")
    assert error(ours, found.last_hidden_state[:, 0].numpy()) < TOLERANCE["float32"]
