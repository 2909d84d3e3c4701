"""How photos are resized for a model: read from what timm and Hugging Face put beside the weights."""

import json
from dataclasses import replace

import pytest

from tests.pretrained.checkpoints import complaint, random_model
from tinyvit.data.photo_fit import PhotoFit
from tinyvit.pretrained.hugging_face import save_hugging_face
from tinyvit.pretrained.preprocessing import read_preprocessing


def hugging_face(folder, **stated):
    (folder / "preprocessor_config.json").write_text(json.dumps(stated))
    return folder


def timm(folder, **stated):
    (folder / "config.json").write_text(json.dumps({"architecture": "test_vit", "pretrained_cfg": stated}))
    return folder


SQUARE, SHORTER = {"height": 256, "width": 256}, {"shortest_edge": 256}
CROP = {"height": 224, "width": 224}
SQUASHED = PhotoFit("squash", (256, 256), (256, 256), "bilinear")
CENTRE = PhotoFit("crop", (256, 256), (224, 224), "bilinear")


@pytest.mark.parametrize(
    ("stated", "expected"),
    [
        # ViT: both sides squashed
        ({"size": SQUARE, "resample": 3}, PhotoFit("squash", (256, 256), (256, 256), "bicubic")),
        ({"size": 256}, SQUASHED),
        ({"size": {"height": 128, "width": 256}}, PhotoFit("squash", (128, 256), (128, 256), "bilinear")),
        # DeiT: squashed, then the centre
        (
            {"size": SQUARE, "crop_size": CROP, "do_center_crop": True},
            PhotoFit("squash", (256, 256), (224, 224), "bilinear"),
        ),
        ({"size": SQUARE, "crop_size": CROP, "do_center_crop": False}, SQUASHED),
        # DINOv2: the shorter side, then the centre
        ({"size": SHORTER, "crop_size": CROP}, CENTRE),
        ({"size": SHORTER, "crop_size": 224, "resample": 1}, replace(CENTRE, resample="lanczos")),
        ({"size": 256, "crop_size": 224, "feature_extractor_type": "CLIPFeatureExtractor"}, CENTRE),
        # ConvNeXT's own way
        ({"size": {"shortest_edge": 224}, "crop_pct": 0.875}, CENTRE),
        (
            {"size": {"shortest_edge": 384}, "crop_pct": 0.875},
            PhotoFit("squash", (384, 384), (384, 384), "bilinear"),
        ),
        # nothing that holds for every photo
        ({"size": {"shortest_edge": 256, "longest_edge": 512}}, None),
        ({"size": SQUARE, "do_resize": False}, None),
        ({"image_mean": [0.5] * 3}, None),
    ],
)
def test_what_hugging_face_states(tmp_path, stated, expected):
    assert read_preprocessing(hugging_face(tmp_path, **stated)) == expected


@pytest.mark.parametrize(
    ("stated", "expected"),
    [
        ({"input_size": [3, 224, 224], "crop_pct": 0.9}, PhotoFit("crop", (248, 248), (224, 224), "bicubic")),
        ({"input_size": [3, 224, 224]}, PhotoFit("crop", (256, 256), (224, 224), "bicubic")),
        (
            {
                "input_size": [3, 336, 336],
                "crop_pct": 1.0,
                "crop_mode": "squash",
                "interpolation": "bilinear",
            },
            PhotoFit("squash", (336, 336), (336, 336), "bilinear"),
        ),
        (
            {"input_size": [3, 64, 128], "crop_pct": 0.5, "crop_mode": "border"},
            PhotoFit("pad", (128, 256), (64, 128), "bicubic"),
        ),
        ({"mean": [0.5] * 3}, None),
    ],
)
def test_what_timm_states(tmp_path, stated, expected):
    assert read_preprocessing(timm(tmp_path, **stated)) == expected


def test_the_file_of_hugging_face_comes_first_and_without_files_nothing_is_known(tmp_path):
    assert read_preprocessing(tmp_path) is None
    timm(tmp_path, input_size=[3, 8, 8], crop_pct=1.0)
    hugging_face(tmp_path, size=SQUARE)
    assert read_preprocessing(tmp_path).size == (256, 256)
    hugging_face(tmp_path, image_mean=[0.5] * 3)
    assert read_preprocessing(tmp_path).size == (8, 8)


@pytest.mark.parametrize(
    "stated",
    [
        {"size": "large"},
        {"size": {"height": 8}},
        {"size": {"height": 0, "width": 8}},
        {"size": {"height": -8, "width": 8}},
        {"size": {"height": 1e300, "width": 8}},
        {"size": SQUARE, "resample": 7},
        {"size": SQUARE, "resample": -1},
        {"size": SQUARE, "resample": "mitchell"},
        {"size": SQUARE, "crop_size": "some"},
        {"size": {"shortest_edge": 224}, "crop_pct": 0},
        {"size": {"shortest_edge": 224}, "crop_size": 256},
    ],
)
def test_what_cannot_be_is_one_clear_line(tmp_path, stated):
    message = complaint(read_preprocessing, hugging_face(tmp_path, **stated))
    assert "preprocessor_config.json does not describe how photos are resized" in message


def test_a_crop_mode_or_filter_of_timms_that_is_not_known_is_refused(tmp_path):
    for stated in ({"crop_mode": "spiral"}, {"interpolation": "random"}):
        message = complaint(read_preprocessing, timm(tmp_path, input_size=[3, 8, 8], **stated))
        assert "config.json does not describe how photos are resized" in message


def test_at_another_size_the_same_share_is_cut_out():
    fit = PhotoFit("crop", (256, 256), (224, 224))
    assert fit.at((448, 448)) == PhotoFit("crop", (512, 512), (448, 448))
    assert fit.at((384, 384)).frame == (439, 439)  # from 438.9
    assert fit.at((224, 224)) == fit


@pytest.mark.parametrize(
    ("size", "fit", "expected"),
    [
        (8, None, PhotoFit("crop", (8, 8), (8, 8), "bicubic")),  # what tinyvit does of itself
        ((8, 12), None, PhotoFit("crop", (12, 12), (8, 12), "bicubic")),
        (8, PhotoFit("crop", (20, 20), (16, 16), "lanczos"), PhotoFit("crop", (10, 10), (8, 8), "lanczos")),
        (
            8,
            PhotoFit("squash", (16, 16), (16, 16), "bilinear"),
            PhotoFit("squash", (8, 8), (8, 8), "bilinear"),
        ),
    ],
)
def test_what_is_exported_is_what_is_done(tmp_path, size, fit, expected):
    save_hugging_face(tmp_path / "model", *random_model(image_size=size), "abcde", fit)
    assert read_preprocessing(tmp_path / "model") == expected


def test_padding_is_not_exported_for_hugging_face_does_not_pad(tmp_path):
    fit = PhotoFit("pad", (8, 8), (8, 8))
    said = complaint(save_hugging_face, tmp_path / "model", *random_model(), "abcde", fit)
    assert "do not pad" in said
    assert said.endswith("write an .npz file in the official layout or an .onnx file.")
    assert not (tmp_path / "model").exists()
