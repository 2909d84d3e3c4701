"""Files of timm and transformers for models with one argument changed: read, and agreeing, or refused.

Each model has random values, is saved by its own library, and is opened again by that library, too.
"""

import importlib
import json
from pathlib import Path

import numpy as np
import pytest

from tests.golden.library_answers import TOLERANCE, error
from tinyvit import load
from tinyvit.model import features, infer
from tinyvit.support.errors import UserError

VIT, GAP, DISTILLED = (
    "vit_base_patch16_224",
    "vit_base_patch32_siglip_gap_256",
    "deit_base_distilled_patch16_224",
)
MAP, PREFIX, EVA = "vit_so150m_patch16_reg4_map_256", "test_vit3", "eva02_base_patch14_224"
PE, DINOV3, BEIT = "vit_pe_core_base_patch16_224", "vit_base_patch16_dinov3", "beit_base_patch16_224"
ANY_SIZE = {"pretrained_cfg_overlay": {"input_size": (3, 8, 12)}}  # the size of photos decides
# Architecture, arguments, and a part of the reason for which the model is refused; '' if it is read.
TIMM = [
    *((VIT, {"act_layer": form}, "") for form in ("gelu", "gelu_tanh", "quick_gelu", "relu", "silu")),
    *((VIT, {"act_layer": form}, f"nonlinearity {form!r}") for form in ("tanh", "sigmoid", "mish")),
    *((VIT, {"global_pool": pool}, f"pooling {pool!r}") for pool in ("", "avgmax", "max")),
    (VIT, {"global_pool": "avg"}, ""),
    (VIT, {"global_pool": "avg", "pool_include_prefix": True}, "averages all its tokens"),
    (VIT, {"global_pool": "token", "pool_include_prefix": True}, ""),
    (VIT, {"global_pool": "map", "pool_include_prefix": True}, ""),
    (VIT, {"global_pool": "map", "pool_include_prefix": False}, ""),
    (VIT, {"global_pool": "map", "fc_norm": True}, ""),
    (VIT, {"global_pool": "avg", "fc_norm": False, "final_norm": False}, ""),
    (VIT, {"num_classes": 0}, ""),
    (VIT, {"in_chans": 1}, ""),
    (VIT, {"in_chans": 4}, "for 4-channel images"),
    (VIT, {"dynamic_img_pad": True}, "dynamic_img_pad True"),
    (GAP, {"class_token": True, "pool_include_prefix": True}, "averages all its tokens"),
    (GAP, {"pool_include_prefix": True}, ""),  # there is no prefix
    (MAP, {"pool_include_prefix": True}, ""),
    (MAP, {"global_pool": "avg", "fc_norm": False}, ""),
    (PREFIX, {}, ""),
    (PREFIX, {"pool_include_prefix": False}, ""),
    (PREFIX, {"global_pool": "avg", "pool_include_prefix": False}, ""),
    (EVA, {}, ""),
    (EVA, {"global_pool": "map"}, "another nonlinearity"),
    (EVA, {"global_pool": "token"}, ""),
    ("eva_giant_patch14_224", {"global_pool": "map"}, ""),
    (DINOV3, {"global_pool": "map"} | ANY_SIZE, ""),
    (DINOV3, {"num_reg_tokens": 0} | ANY_SIZE, ""),
    (PE, {}, ""),
    (PE, {"global_pool": "avg"}, ""),
    (PE, {"global_pool": "token"}, ""),
    (PE, {"use_post_transformer_norm": False}, ""),
    (PE, {"attn_pool_num_heads": 2}, ""),
    (PE, {"attn_pool_mlp_ratio": 2.0}, "attn_pool_mlp_ratio"),
    (DISTILLED, {}, ""),
    (DISTILLED, {"num_classes": 0}, ""),
    (BEIT, {"img_size": [12, 8]}, ""),
]


@pytest.mark.parametrize(("architecture", "changes", "why"), TIMM, ids=str)
def test_what_timm_writes(architecture, changes, why, tmp_path):
    timm, torch = pytest.importorskip("timm"), pytest.importorskip("torch")
    saved = importlib.import_module("timm.models._hub").save_for_hf
    small = {
        "embed_dim": 32,
        "depth": 2,
        "num_heads": 4,
        "patch_size": 4,
        "img_size": [8, 12],
        "num_classes": 5,
    }
    model = timm.create_model(architecture, **(small | changes))
    importlib.import_module("tests.golden.torch_library").randomise(model, 1)
    saved(model, tmp_path, safe_serialization=True)
    theirs = timm.create_model(f"local-dir:{tmp_path}", pretrained=True).eval()
    pixels = json.loads((tmp_path / "config.json").read_text())["pretrained_cfg"]
    channels = 1 if changes.get("in_chans") == 1 else 3
    images = pictures(changes.get("img_size", [8, 12]), channels)
    mean, std = (np.array(pixels[name][:channels]) for name in ("mean", "std"))

    def ask():
        with torch.no_grad():
            return theirs(torch.from_numpy(channels_first((images - mean) / std))).numpy()

    assert_read_or_refused(tmp_path, images, ask, why)


def pictures(size, channels):
    """Random pixels from 0 to 1."""
    return np.random.default_rng(0).random((2, *size, channels))


def channels_first(images):
    return images.astype("float32").transpose(0, 3, 1, 2).copy()


def assert_read_or_refused(folder: Path, images, ask, why):
    """The model in the folder answers as `ask` does, or is refused for that reason."""
    if why:
        with pytest.raises(UserError, match=why):
            load(folder)
        return
    ours = load(folder, threads=1)
    colour = np.repeat(images, 3, axis=3) if images.shape[3] == 1 else images
    answer = infer if ours.has_head else features
    found = answer(ours.config, ours.params, (2 * colour - 1).astype("float32"))
    assert error(found, ask()) < TOLERANCE["float32"]


# Class, arguments, and a part of the reason for which the model is refused; '' if it is read.
HUGGING_FACE = [
    *(("ViTForImageClassification", {"hidden_act": form}, "") for form in ("gelu_new", "relu", "swish")),
    *(
        ("ViTForImageClassification", {"hidden_act": form}, f"nonlinearity {form!r}")
        for form in ("tanh", "sigmoid", "linear")
    ),
    ("ViTForImageClassification", {"problem_type": "single_label_classification"}, ""),
    (
        "ViTForImageClassification",
        {"problem_type": "multi_label_classification"},
        "problem_type 'multi_label",
    ),
    ("ViTForImageClassification", {"problem_type": "regression"}, "problem_type 'regression'"),
    ("ViTForImageClassification", {"num_channels": 1}, ""),
    ("ViTForImageClassification", {"num_channels": 4}, "for 4-channel images"),
    ("BeitForImageClassification", {"use_relative_position_bias": True, "image_size": [8, 8]}, ""),
    (
        "BeitForImageClassification",
        {"use_relative_position_bias": True},
        "images of 8 x 12 pixels, but trans",
    ),
    ("Data2VecVisionForImageClassification", {"use_relative_position_bias": True}, "images of 8 x 12"),
    ("CLIPForImageClassification", {"image_size": 8}, ""),
    ("CLIPForImageClassification", {"image_size": 8, "problem_type": "regression"}, "'regression'"),
    ("SiglipForImageClassification", {"image_size": 8}, ""),
]


@pytest.mark.parametrize(("kind", "changes", "why"), HUGGING_FACE, ids=str)
def test_what_transformers_writes(kind, changes, why, tmp_path):
    transformers, torch = pytest.importorskip("transformers"), pytest.importorskip("torch")
    small = {
        "hidden_size": 32, "num_hidden_layers": 2, "num_attention_heads": 4, "patch_size": 4,
        "intermediate_size": 40, "image_size": [8, 12], "num_labels": 5,
    } | changes  # fmt: skip
    size = small["image_size"]
    if kind.startswith(("CLIP", "Siglip")):
        family = kind.removesuffix("ForImageClassification")
        whole = {"num_labels": small.pop("num_labels"), "problem_type": small.pop("problem_type", None)}
        config = getattr(transformers, f"{family}Config")(vision_config=small, **whole)
    else:
        config = getattr(transformers, f"{kind.removesuffix('ForImageClassification')}Config")(**small)
    theirs = getattr(transformers, kind)(config)
    importlib.import_module("tests.golden.torch_library").randomise(theirs, 1).save_pretrained(tmp_path)
    scale = {"do_resize": False, "image_mean": [0.5] * 3, "image_std": [0.5] * 3}
    (tmp_path / "preprocessor_config.json").write_text(json.dumps(scale))
    images = pictures([size] * 2 if isinstance(size, int) else size, 1 if "num_channels" in changes else 3)

    def ask():
        with torch.no_grad():
            return theirs(torch.from_numpy(channels_first(2 * images - 1))).logits.numpy()

    assert_read_or_refused(tmp_path, images, ask, why)
