"""The resizing of photos for a model: read from what timm and Hugging Face put beside the weights."""

import json
import warnings
from dataclasses import replace

import pytest

from tests.weights.checkpoints import complaint, random_model
from tinyvit.data.photos import PhotoFit, fit_for
from tinyvit.weights.folders import save_hugging_face, save_timm
from tinyvit.weights.preprocessing import read_pixel_scale, read_preprocessing


def hugging_face(folder, **stated):
    (folder / "preprocessor_config.json").write_text(json.dumps(stated))
    return folder


def timm(folder, **stated):
    (folder / "config.json").write_text(json.dumps({"architecture": "test_vit", "pretrained_cfg": stated}))
    return folder


SQUARE, SHORTER = {"height": 256, "width": 256}, {"shortest_edge": 256}
CROP = {"height": 224, "width": 224}
CLIP = (0.48145466, 0.4578275, 0.40821073)


def theirs(fit, frame, size, resample="bilinear", library="transformers", **more):
    """A PhotoFit of squares."""
    return PhotoFit(fit, (frame, frame), (size, size), resample, library, **more)


SQUASHED, CENTRE = theirs("squash", 256, 256), theirs("crop", 256, 224)


@pytest.mark.parametrize(
    ("stated", "expected"),
    [
        # ViT: both sides squashed
        ({"size": SQUARE, "resample": 3}, theirs("squash", 256, 256, "bicubic")),
        ({"size": 256}, SQUASHED),
        ({"size": [128, 256]}, replace(SQUASHED, frame=(128, 256), size=(128, 256))),
        ({"size": {"height": 128, "width": 256}}, replace(SQUASHED, frame=(128, 256), size=(128, 256))),
        ({"size": SQUARE, "resample": None}, SQUASHED),
        # DeiT: squashed, then the centre
        ({"size": SQUARE, "crop_size": CROP, "do_center_crop": True}, theirs("squash", 256, 224)),
        ({"size": SQUARE, "crop_size": CROP, "do_center_crop": False}, SQUASHED),
        # DINOv2: the shorter side, then the centre
        ({"size": SHORTER, "crop_size": CROP}, CENTRE),
        ({"size": SHORTER, "crop_size": 224, "resample": 1}, replace(CENTRE, resample="lanczos")),
        ({"size": {"shortest_edge": 224}, "crop_size": 256}, theirs("crop", 224, 256)),
        # ConvNeXT's own way
        ({"size": {"shortest_edge": 224}, "crop_pct": 0.875}, CENTRE),
        ({"size": {"shortest_edge": 384}, "crop_pct": 0.875}, theirs("squash", 384, 384)),
        # nothing that holds for every photo
        ({"size": SQUARE, "do_resize": False}, None),
        ({"image_mean": [0.5] * 3}, None),
    ],
)
def test_what_hugging_face_states(tmp_path, stated, expected):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert read_preprocessing(hugging_face(tmp_path, **stated)) == expected


@pytest.mark.parametrize(
    "size", [{"shortest_edge": 256, "longest_edge": 512}, {"longest_edge": 384}, {"width": 224}, {"max": 9}]
)
def test_another_way_to_resize_photos_is_said(tmp_path, size):
    with pytest.warns(UserWarning, match=r"resizes photos in a way that tinyvit does not have \(\{'"):
        assert read_preprocessing(hugging_face(tmp_path, size=size)) is None


@pytest.mark.parametrize(
    ("kind", "expected", "mean"),
    [
        ({"image_processor_type": "ViTImageProcessorFast"}, theirs("squash", 224, 224), 0.5),
        ({"image_processor_type": "ViTImageProcessor", "crop_size": 8}, theirs("squash", 224, 224), 0.5),
        ({"feature_extractor_type": "DeiTFeatureExtractor"}, theirs("squash", 256, 224, "bicubic"), 0.5),
        ({"image_processor_type": "BeitImageProcessor"}, theirs("squash", 224, 224, "bicubic"), 0.5),
        ({"image_processor_type": "BitImageProcessor"}, theirs("crop", 224, 224, "bicubic"), CLIP),
        ({"feature_extractor_type": "CLIPFeatureExtractor"}, theirs("crop", 224, 224, "bicubic"), CLIP),
        (
            {"image_processor_type": "BitImageProcessor", "size": 256},
            theirs("crop", 256, 224, "bicubic"),
            CLIP,
        ),
        ({"model_type": "dinov2", "size": 256}, theirs("crop", 256, 224, "bicubic"), CLIP),
        ({"model_type": "deit", "size": 200}, theirs("squash", 200, 224, "bicubic"), 0.5),
        ({"model_type": "vit_mae", "size": 192}, theirs("squash", 192, 192), 0.5),
    ],
)
def test_what_a_file_of_hugging_faces_omits_is_as_its_processor_does_by_default(
    tmp_path, kind, expected, mean
):
    """Found by opening such files with transformers 5.24."""
    stated = dict(kind)
    if model := stated.pop("model_type", None):
        (tmp_path / "config.json").write_text(json.dumps({"model_type": model}))
    folder = hugging_face(tmp_path, **stated)
    assert read_preprocessing(folder) == expected
    assert read_pixel_scale(folder).mean == (CLIP if mean is CLIP else (0.5,) * 3)


GREYS = {"mean": [0.5] * 3}
BICUBIC = theirs("crop", 256, 224, "bicubic", "timm")


@pytest.mark.parametrize(
    ("stated", "expected"),
    [
        ({"input_size": [3, 224, 224], "crop_pct": 0.9}, replace(BICUBIC, frame=(248, 248))),
        ({"input_size": [3, 224, 224]}, BICUBIC),
        (
            {"input_size": [3, 8, 8], "crop_pct": 1.0, "crop_mode": "squash", "interpolation": "bilinear"},
            theirs("squash", 8, 8, "bilinear", "timm"),
        ),
        (
            {
                "input_size": [3, 64, 128],
                "crop_pct": 0.5,
                "crop_mode": "border",
                "mean": [0.485, 0.456, 0.406],
            },
            PhotoFit("pad", (128, 256), (64, 128), "bicubic", "timm", border=(124, 116, 104)),
        ),
        ({}, None),
    ],
)
def test_what_timm_states(tmp_path, stated, expected):
    assert read_preprocessing(timm(tmp_path, **GREYS | stated)) == expected
    (tmp_path / "config.json").write_text(json.dumps({"architecture": "test_vit"} | GREYS | stated))
    assert read_preprocessing(tmp_path) == expected  # as older versions of timm wrote it


@pytest.mark.parametrize(
    ("arguments", "side"),
    [({}, 8), ({"img_size": 16}, 16), ({"img_size": 16, "dynamic_img_size": True}, 8)],
)
def test_a_size_that_a_model_of_timms_was_made_for_comes_first_unless_it_takes_any(tmp_path, arguments, side):
    cfg = {"input_size": [3, 8, 8], "crop_pct": 1.0, "fixed_input_size": True}
    text = {"architecture": "test_vit", "model_args": arguments, "pretrained_cfg": cfg}
    (tmp_path / "config.json").write_text(json.dumps(text))
    assert read_preprocessing(tmp_path).size == (side, side)


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
        {"size": SQUARE, "crop_size": 100_000},
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


FITS = [
    (8, None),  # what tinyvit does of itself
    (8, PhotoFit("crop", (20, 20), (16, 16), "lanczos")),
    (8, PhotoFit("squash", (16, 16), (16, 16), "bilinear")),
    (24, PhotoFit("crop", (27, 27), (24, 24))),
    (24, PhotoFit("crop", (20, 20), (24, 24))),
]


@pytest.mark.parametrize(("size", "fit"), FITS)
def test_what_is_exported_for_hugging_face_is_what_is_done(tmp_path, size, fit):
    config, params = random_model(image_size=size)
    save_hugging_face(tmp_path / "model", config, params, "abcde", fit)
    expected = replace(fit_for(config.image_size, fit), library="transformers")
    assert read_preprocessing(tmp_path / "model") == expected


@pytest.mark.parametrize(
    ("size", "fit"), [*FITS, ((8, 12), None), ((8, 12), PhotoFit("pad", (13, 20), (8, 12), "box"))]
)
def test_what_is_exported_for_timm_is_what_is_done(tmp_path, size, fit):
    config, params = random_model(image_size=size)
    save_timm(tmp_path / "model", config, params, "abcde", fit)
    expected = replace(fit_for(config.image_size, fit), library="timm")
    assert read_preprocessing(tmp_path / "model") == expected


@pytest.mark.parametrize(
    "fit",
    [PhotoFit("pad", (8, 8), (8, 8), border=(1, 2, 3)), PhotoFit("squash", (12, 8), (8, 8))],
)
def test_what_timm_cannot_be_told_is_not_exported_for_it(tmp_path, fit):
    said = complaint(save_timm, tmp_path / "model", *random_model(), "abcde", fit)
    assert "timm cannot fit photos" in said and said.endswith(
        "Instead, write a folder for Hugging Face or an .onnx file."
    ) == (fit.fit == "squash")
    assert not (tmp_path / "model").exists()


@pytest.mark.parametrize(
    ("size", "fit", "why", "instead"),
    [
        ((8, 8), PhotoFit("pad", (8, 8), (8, 8)), "do not pad", "a folder for timm or an .onnx file"),
        ((8, 8), PhotoFit("crop", (8, 8), (8, 8), edge=(1, 1)), "cut out the centre", "an .onnx file"),
        ((8, 12), None, "cover 8 x 12 pixels", "a folder for timm or an .onnx file"),
        ((12, 8), None, "cover 12 x 8 pixels", "a folder for timm or an .onnx file"),
        ((8, 8), PhotoFit("crop", (8, 12), (8, 8)), "cover 8 x 12 pixels", "an .onnx file"),
    ],
)
def test_what_hugging_face_cannot_be_told_is_not_exported_for_it(tmp_path, size, fit, why, instead):
    model = random_model(image_size=size)
    said = complaint(save_hugging_face, tmp_path / "model", *model, "abcde", fit)
    assert why in said and said.endswith(f"Instead, write {instead}.")
    assert not (tmp_path / "model").exists()


def test_the_file_for_images_and_texts_of_transformers_5_is_read_too(tmp_path):
    stated = {
        "image_processor_type": "SiglipImageProcessor",
        "size": {"height": 32, "width": 48},
        "resample": 2,
    }
    (tmp_path / "processor_config.json").write_text(json.dumps({"image_processor": stated}))
    fit = read_preprocessing(tmp_path)
    assert (fit.fit, fit.size, fit.resample) == ("squash", (32, 48), "bilinear")
    assert read_pixel_scale(tmp_path).mean == (0.5, 0.5, 0.5)
