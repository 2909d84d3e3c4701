"""tinyvit against transformers, through the files that transformers writes."""

import numpy as np
import pytest
from PIL import Image

from tests.data.scenes import seen
from tests.golden.library_answers import (
    HERE,
    TOLERANCE,
    answers_to,
    assert_gradients_agree,
    assert_written_back_to_the_bit,
    error,
    gradients_of_file,
    logits_of_file,
)
from tests.helpers import random_batch
from tests.pretrained.checkpoints import random_model
from tinyvit.model import ViTConfig, forward
from tinyvit.pretrained.hugging_face import save_hugging_face
from tinyvit.pretrained.load import load_weights
from tinyvit.pretrained.torch_names import to_torch_names

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
    config, params = load_weights(file_of(name))
    assert config.classes == 1 and not params["head.weight"].any()


@every_dtype
def test_gradients_are_those_of_pytorch(dtype):
    found = answers_to("huggingface", "vit")
    config, grads = gradients_of_file(file_of("vit"), found, dtype)
    assert_gradients_agree(to_torch_names(config, grads), found, TOLERANCE[dtype])


def test_a_file_of_hugging_face_is_written_back_to_the_bit(tmp_path):
    assert_written_back_to_the_bit(file_of("vit"), tmp_path)


def test_the_description_beside_the_file_is_heeded():
    config, _ = load_weights(file_of("vit_tanh"))
    assert (config.gelu, config.eps, config.heads) == ("tanh", 1e-6, 4)
    config, _ = load_weights(file_of("vit"))
    assert (config.gelu, config.eps, config.image_size) == ("exact", 1e-12, (8, 12))
    config, _ = load_weights(file_of("vit"), heads=2, image_size=(24, 4))
    assert (config.heads, config.image_size) == (2, (24, 4))


@pytest.mark.parametrize("change", [{"eps": 1e-4}, {"gelu": "tanh"}, {"heads": 2}])
def test_another_arithmetic_would_not_pass(change):
    found = answers_to("huggingface", "vit")
    config, params = load_weights(file_of("vit"))
    changed = ViTConfig(**(config.as_dict() | change))
    assert error(forward(changed, params, found["images"])[0], found["float32"]) > TOLERANCE["float32"]


@pytest.mark.parametrize("change", [{}, {"gelu": "exact", "eps": 1e-12, "image_size": (8, 12)}], ids=str)
def test_hugging_face_opens_a_folder_of_ours(change, tmp_path):
    transformers = pytest.importorskip("transformers", reason="needs transformers and PyTorch")
    config, params = random_model(**change)
    save_hugging_face(tmp_path / "model", config, params, "abcde")
    theirs = transformers.AutoModelForImageClassification.from_pretrained(tmp_path / "model").eval()
    images, _ = random_batch(config, 3, np.random.default_rng(0), "float32")
    torch = pytest.importorskip("torch")
    with torch.no_grad():
        logits = theirs(torch.from_numpy(images.transpose(0, 3, 1, 2).copy())).logits.numpy()
    assert error(forward(config, params, images)[0], logits) < TOLERANCE["float32"]
    assert theirs.config.id2label == dict(enumerate("abcde"))


@pytest.mark.parametrize("photo", [(300, 200), (97, 131), (200, 250)])
def test_hugging_face_prepares_photos_as_tinyvit_does(photo, tmp_path):
    """But for the rounding of the longer side to whole pixels, before its ends are cut off."""
    transformers = pytest.importorskip("transformers", reason="needs transformers and PyTorch")
    config, params = random_model(image_size=24)
    save_hugging_face(tmp_path / "model", config, params, "abcde")
    pixels = np.random.default_rng(0).integers(0, 256, (8, 8, 3), dtype=np.uint8)
    Image.fromarray(pixels).resize(photo, Image.Resampling.BICUBIC).save(tmp_path / "photo.png")
    processor = transformers.AutoImageProcessor.from_pretrained(tmp_path / "model")
    theirs = processor(images=Image.open(tmp_path / "photo.png"), return_tensors="np")["pixel_values"]
    ours = seen(tmp_path / "photo.png", 24) / 127.5 - 1
    squashed = Image.open(tmp_path / "photo.png").resize((24, 24), Image.Resampling.BICUBIC)
    difference = np.abs(ours - theirs[0].transpose(1, 2, 0)).mean()
    assert difference < 0.1 * np.abs(ours - (np.asarray(squashed) / 127.5 - 1)).mean()
    if photo == (300, 200):  # which becomes 36 x 24: nothing to round
        assert difference < 1e-6
