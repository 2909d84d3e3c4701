"""tinyvit against timm, through timm's own names."""

import json
from dataclasses import replace

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
from tinyvit.data.photos import PhotoFit, read_photo
from tinyvit.model import forward
from tinyvit.training.loading import load_any
from tinyvit.weights.folders import save_timm
from tinyvit.weights.torch_names import to_timm

every_dtype = pytest.mark.parametrize("dtype", TOLERANCE)
GIVEN = {
    "token": {"heads": 4},
    "mean": {"heads": 4},
    "deit3": {"heads": 4, "image_size": (8, 12)},
    "float16": {"heads": 4},
}


def file_of(name):
    return HERE / "timm" / f"{name}.safetensors"


@every_dtype
@pytest.mark.parametrize("name", GIVEN)
def test_logits_are_those_of_timm(name, dtype):
    found = answers_to("timm", name)
    logits = logits_of_file(file_of(name), found["images"], dtype, **GIVEN[name])
    assert error(logits, found[dtype]) < TOLERANCE[dtype]


@pytest.mark.parametrize("name", ["token", "mean"])
def test_a_file_of_timm_is_written_back_to_the_bit(name, tmp_path):
    assert_written_back_to_the_bit(file_of(name), tmp_path, **GIVEN[name])


@every_dtype
@pytest.mark.parametrize(
    ("architecture", "heads", "gelu"),
    [("vit_base_patch16_gap_224", 16, "exact"), ("vit_base_patch32_siglip_gap_256", 4, "tanh")],
)
def test_what_the_name_of_an_architecture_implies_is_known(architecture, heads, gelu, dtype):
    found, path = answers_to("timm", architecture), HERE / "timm" / architecture / "model.safetensors"
    assert error(logits_of_file(path, found["images"], dtype), found[dtype]) < TOLERANCE[dtype]
    config, params = weights_of(path)
    assert (config.heads, config.gelu) == (heads, gelu)
    for change in ({"heads": 2}, {"gelu": "exact" if gelu == "tanh" else "tanh"}):
        changed = replace(config, **change)
        assert (
            error(forward(changed, params, found["images"])[0], found["float32"]) > 10 * TOLERANCE["float32"]
        )


def test_pooling_is_inferred():
    assert weights_of(file_of("token"), heads=4)[0].pool == "token"
    assert weights_of(file_of("mean"), heads=4)[0].pool == "mean"


@every_dtype
def test_gradients_of_layer_scale_are_those_of_pytorch(dtype):
    found = answers_to("timm", "deit3")
    config, grads = gradients_of_file(file_of("deit3"), found, dtype, **GIVEN["deit3"])
    ours = to_timm(config, grads)
    assert_gradients_agree(ours, found, TOLERANCE[dtype])


@pytest.mark.parametrize("fit", ["crop", "squash", "pad"])
@pytest.mark.parametrize("photo", [(300, 200), (97, 131), (200, 251)])
def test_timm_prepares_photos_as_tinyvit_does(photo, fit, tmp_path):
    data = pytest.importorskip("timm.data", reason="needs timm and PyTorch")
    config, params = random_model(image_size=24)
    save_timm(tmp_path / "model", config, params, "abcde", PhotoFit(fit, (27, 27), (24, 24)))
    scene(*photo).save(tmp_path / "photo.png")
    cfg = json.loads((tmp_path / "model" / "config.json").read_text())["pretrained_cfg"]
    prepare = data.create_transform(**data.resolve_data_config(cfg, pretrained_cfg=cfg), normalize=False)
    theirs = prepare(Image.open(tmp_path / "photo.png")).numpy().transpose(1, 2, 0)
    ours = read_photo(tmp_path / "photo.png", 24, load_any(str(tmp_path / "model")).photo_fit).view
    np.testing.assert_array_equal(ours, theirs)
