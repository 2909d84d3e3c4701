"""Exported models, opened by the library that owns the format: they answer the same for the same photo.

PARTS lists every optional part of a model, and the formats that hold it: an export to any other is refused.
"""

import importlib.util
from dataclasses import replace

import numpy as np
import pytest
from PIL import Image

from tests.data.scenes import scene
from tests.golden.library_answers import TOLERANCE, error
from tests.weights.checkpoints import random_model
from tinyvit.data.photos import PhotoFit, fit_for, read_photo
from tinyvit.insight.page import check_page_can_run
from tinyvit.model import Model, infer
from tinyvit.model.config import LATER_PARTS
from tinyvit.model.later.rotary import Rotary
from tinyvit.support.errors import UserError
from tinyvit.weights.safetensors import read_safetensors
from tinyvit.weights.save import left_out, save_model

EXACT, HUGGING_FACE = {"gelu": "exact"}, {"gelu": "exact", "eps": 1e-12}
# The arithmetic of the models that each format is asked to hold, unless a part has another.
FORMATS = {
    "timm": ("timm", "", {}),
    "hugging_face": ("hugging_face", "", {"eps": 1e-5}),
    "onnx": ("onnx", ".onnx", {}),
    "official": ("official", ".npz", {}),
    "file of timm": ("torch", ".safetensors", EXACT),
    "file of hugging_face": ("torch", ".safetensors", HUGGING_FACE),
    "page": ("page", "", {}),
}
ALL, FOLDED = tuple(FORMATS), tuple(FORMATS)[:-1]
PARTS = {
    "none": ({}, ALL),
    "exact": (EXACT, ("timm", "hugging_face", "onnx", "file of timm", "file of hugging_face", "page")),
    "quick": ({"gelu": "quick"}, ("timm", "onnx")),
    "silu": ({"gelu": "silu"}, ("timm", "onnx")),
    "relu": ({"gelu": "relu"}, ("timm", "onnx")),
    "epsilon": ({"eps": 1e-3}, ("hugging_face", "onnx", "page")),
    "mean": ({"pool": "mean"}, ("timm", "onnx", "official", "file of timm", "page")),
    "attention": ({"pool": "attention"}, ("timm", "onnx")),
    "both": ({"pool": "both"}, ("onnx",)),
    "distilled": ({"pool": "distilled"}, ("onnx",)),
    "pre_logits": ({"pre_logits": 7}, ("onnx", "official", "page")),
    "odd MLP": ({"mlp_width": 13}, ALL),
    "2d": ({"position": "2d"}, ALL),
    "sincos": ({"position": "sincos"}, ALL),
    "no positions": ({"position": "none"}, ALL),
    "relative": ({"position": "relative"}, ("onnx", "page")),
    "bias": ({"position": "bias"}, ("onnx",)),
    "in blocks": ({"position_at": "blocks"}, ("onnx", "page")),
    "class_token": ({"pool": "mean", "class_token": True}, ("timm", "onnx")),
    "registers": ({"registers": 2}, ("timm", "onnx")),
    "registers, mean": ({"registers": 2, "pool": "mean"}, ("timm", "onnx")),
    "registers, 2d": ({"registers": 2, "position": "2d"}, ("timm", "onnx")),
    "position_on": ({"position_on": "patches"}, FOLDED),
    "position_on, 2d": ({"position_on": "patches", "position": "2d"}, FOLDED),
    "position_on, sincos": ({"position_on": "patches", "position": "sincos"}, FOLDED),
    "position_on, all": ({"position_on": "all", "registers": 2}, ("timm", "onnx")),
    "position_on, registers": ({"position_on": "patches", "registers": 2}, ("timm", "onnx")),
    "rotary": ({"rotary": Rotary()}, ("onnx",)),
    "pre_norm": ({"pre_norm": True}, ("onnx",)),
    "patch_bias": ({"patch_bias": False}, ("onnx",)),
    "qkv_bias": ({"qkv_bias": "qv"}, FOLDED),
    "qkv_bias, none": ({"qkv_bias": "none"}, FOLDED),
    "qk_norm": ({"qk_norm": True}, ("timm", "onnx")),
    "attention_norm": ({"attention_norm": True}, ("onnx",)),
    "gated": ({"gated": True, "gelu": "silu"}, ("onnx",)),
    "mlp_norm": ({"mlp_norm": True}, ("onnx",)),
    "layer_scale": ({"layer_scale": 0.1}, FOLDED),
    "final_norm": ({"final_norm": "pooled", "pool": "mean"}, ("timm", "onnx")),
    "final_norm, token": ({"final_norm": "pooled"}, ("timm", "onnx")),
    "final_norm, none": ({"final_norm": "none"}, ("timm", "onnx")),
    "final_norm, attention": ({"final_norm": "pooled", "pool": "attention"}, ("timm", "onnx")),
    "pool_heads": ({"pool": "attention", "pool_heads": 2}, ("onnx",)),
    "pool_mlp_width": ({"pool": "attention", "pool_mlp_width": 9}, ("onnx",)),
    "pool_all": ({"pool": "attention", "pool_all": True, "registers": 1}, ("timm", "onnx")),
    "head_bias": ({"head_bias": False}, ("onnx",)),
    "causal": ({"pool": "mean", "causal": True}, ()),
    "merge_after": ({"merge_after": 1, "layers": 3, "image_size": (8, 16)}, ("onnx",)),
    "patch_dropout": ({"patch_dropout": 0.5}, ALL),
    "root": ({"resnet": (), "image_size": (32, 32)}, ("onnx", "official")),
    "patches": ({"predicts": "patches"}, ()),
    "embedding": ({"predicts": "embedding"}, ("onnx",)),
}
SQUARE, TALLER, WIDER = (8, 8), (12, 8), (8, 12)
SIZES = {name: (SQUARE, TALLER, WIDER)[i % 3] for i, name in enumerate(PARTS)}


def answer_of_timm(model, path, photos, views):
    """From the photos, by timm's own transforms; None without timm."""
    timm, torch = pytest.importorskip("timm"), pytest.importorskip("torch")
    data = pytest.importorskip("timm.data")
    theirs = timm.create_model(f"local-dir:{path}", pretrained=True).eval()
    assert theirs.pretrained_cfg["label_names"] == list("abcde")
    prepare = data.create_transform(**data.resolve_data_config({}, model=theirs))
    with torch.no_grad():
        return theirs(torch.stack([prepare(photo) for photo in photos])).numpy()


def answer_of_hugging_face(model, path, photos, views):
    """From the photos, by Hugging Face's processor."""
    transformers, torch = pytest.importorskip("transformers"), pytest.importorskip("torch")
    theirs = transformers.AutoModelForImageClassification.from_pretrained(path).eval()
    assert theirs.config.id2label == dict(enumerate("abcde"))
    processor = transformers.AutoImageProcessor.from_pretrained(path, backend="pil")
    with torch.no_grad():
        return theirs(**processor(photos, return_tensors="pt")).logits.numpy()


def answer_of_onnx(model, path, photos, views):
    """From bytes."""
    session = pytest.importorskip("onnxruntime").InferenceSession(str(path))
    return session.run(["logits"], {"images": views})[0]


def answer_of_timms_class(model, path, photos, views):
    """By timm's VisionTransformer of that shape, which also reads official files."""
    torch, vit = pytest.importorskip("torch"), pytest.importorskip("timm.models.vision_transformer")
    c = model.config
    theirs = vit.VisionTransformer(
        img_size=c.image_size, patch_size=c.patch_size, in_chans=c.channels, num_classes=c.classes,
        global_pool="token" if c.has_token else "avg", class_token=c.has_token, fc_norm=False,
        embed_dim=c.width, depth=c.layers, num_heads=c.heads, mlp_ratio=(c.mlp_width + 0.5) / c.width,
        act_layer={"exact": "gelu", "tanh": "gelu_tanh"}[c.gelu],
    )  # fmt: skip
    if path.suffix == ".npz":
        theirs.load_pretrained(str(path))
    else:
        arrays = read_safetensors(path)
        theirs.load_state_dict({name: torch.from_numpy(array.copy()) for name, array in arrays.items()})
    return answer_to_pixels(theirs.eval(), views)


def answer_of_hugging_faces_class(model, path, photos, views):
    """By Hugging Face's ViTForImageClassification of that shape."""
    transformers, torch = pytest.importorskip("transformers"), pytest.importorskip("torch")
    c = model.config
    config = transformers.ViTConfig(
        image_size=list(c.image_size), patch_size=c.patch_size, num_channels=c.channels, hidden_size=c.width,
        intermediate_size=c.mlp_width, num_attention_heads=c.heads, num_hidden_layers=c.layers,
        num_labels=c.classes,
    )  # fmt: skip
    config.architectures = ["ViTForImageClassification"]
    (folder := path.with_suffix("")).mkdir()
    config.save_pretrained(folder)
    path.rename(folder / "model.safetensors")
    theirs = transformers.ViTForImageClassification.from_pretrained(folder).eval()
    with torch.no_grad():
        return answer_to_pixels(lambda pixels: theirs(pixels).logits, views)


def answer_to_pixels(ask, views):
    """The logits for bytes that are scaled to -1..1 and have their channels first."""
    torch = pytest.importorskip("torch")
    with torch.no_grad():
        return ask(torch.from_numpy(scaled(views).transpose(0, 3, 1, 2).copy())).numpy()


OWNERS = {
    "timm": answer_of_timm, "hugging_face": answer_of_hugging_face, "onnx": answer_of_onnx,
    "official": answer_of_timms_class, "file of timm": answer_of_timms_class,
    "file of hugging_face": answer_of_hugging_faces_class,
}  # fmt: skip


def scaled(views):
    return (views / 127.5 - 1).astype("float32")


def export(name, model, path, fit):
    """Write the model; its path, and the notes on what was left out, or None if it was refused."""
    if name == "onnx" and importlib.util.find_spec("onnx") is None:
        pytest.skip("needs onnx")
    layout, ending, _ = FORMATS[name]
    path = path.with_name(path.name + ending)
    try:
        if name != "page":
            return path, save_model(model, path, layout, fit)
        check_page_can_run(model.config)
        return path, left_out(model, layout, fit)
    except UserError:
        return path, None


def model_for(name, size, changes):
    config, params = random_model(**({"image_size": size} | FORMATS[name][2] | changes))
    return Model(config, params, "abcde" if name in ("timm", "hugging_face") else ())


def assert_the_owner_agrees(name, model, path, fit, tmp_path):
    """The owner's answer to photos is that of the reference, of photos fitted with the owner's rounding."""
    shapes, photos, views = [(90, 61), (47, 80), (33, 33)], [], []
    library = {"timm": "timm", "hugging_face": "transformers"}.get(name, "tinyvit")
    fit = replace(fit_for(model.config.image_size, fit), library=library)
    for i, shape in enumerate(shapes):
        scene(*shape).save(tmp_path / f"{i}.png")
        photos.append(Image.open(tmp_path / f"{i}.png").convert("RGB"))
        views.append(read_photo(tmp_path / f"{i}.png", model.config.image_size, fit).view)
    theirs = OWNERS[name](model, path, photos, views := np.stack(views))
    assert error(infer(model.config, model.params, scaled(views)), theirs) < TOLERANCE["float32"]


@pytest.mark.parametrize("name", FORMATS)
@pytest.mark.parametrize("part", PARTS)
def test_a_part_is_refused_or_its_owner_answers_the_same(part, name, tmp_path):
    changes, held = PARTS[part]
    size = SQUARE if name in ("official", "hugging_face") else SIZES[part]
    model = model_for(name, size, changes)
    path, notes = export(name, model, tmp_path / "out", None)
    assert (notes == []) == (name in held)
    elsewhere = name == "page" or (name == "official" and part in ("pre_logits", "root"))
    if notes == [] and not elsewhere:  # see tests/insight/page and test_official_flax.py
        assert_the_owner_agrees(name, model, path, None, tmp_path)


@pytest.mark.parametrize("name", FORMATS)
@pytest.mark.parametrize("size", [SQUARE, TALLER, WIDER])
@pytest.mark.parametrize("fit", ["usual", "crop", "squash", "squash, crop", "pad"])
def test_how_photos_are_fitted_is_held_or_refused_or_said(fit, size, name, tmp_path):
    frame = {SQUARE: (9, 9), TALLER: (14, 9), WIDER: (9, 14)}[size] if "crop" in fit else size
    model = model_for(name, size, {})
    photos = None if fit == "usual" else PhotoFit(fit.split(",")[0], frame, size)
    path, notes = export(name, model, tmp_path / "out", photos)
    unfit = {
        "hugging_face": fit == "pad" or (fit in ("usual", "crop") and size != SQUARE),
        "official": size != SQUARE,
    }
    assert (notes is None) == unfit.get(name, False)
    if name in ("timm", "hugging_face", "onnx") and notes is not None:
        assert notes == []
        assert_the_owner_agrees(name, model, path, photos, tmp_path)
    elif notes is not None:
        assert ["its way of fitting photos" in note for note in notes] == [True] * (fit != "usual")


def test_every_part_is_in_the_table():
    assert LATER_PARTS.keys() <= {field for changes, _ in PARTS.values() for field in changes}
