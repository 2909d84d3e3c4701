"""The preprocessing of a model's photos: the size, the crop, the filter and the scale of the pixels.

Hugging Face states this in preprocessor_config.json, timm in the pretrained_cfg of its config.json.
"""

import warnings
from collections.abc import Iterator
from math import floor
from pathlib import Path
from typing import Any

import numpy as np

from tinyvit.data.photos import PhotoFit
from tinyvit.support.errors import UserError
from tinyvit.support.files import read_json
from tinyvit.weights.description import UNREADABLE, height_and_width
from tinyvit.weights.equivalent import CLIP_PIXELS, IMAGENET_PIXELS, PixelScale

# Pillow's filters, indexed by the numbers that Hugging Face uses.
FILTERS = ("nearest", "lanczos", "bilinear", "bicubic", "box", "hamming")
TIMM_FITS = {"center": "crop", "squash": "squash", "border": "pad"}
# Hugging Face's processors for which a size given as one number is the shorter side, not a square.
_SHORTER_SIDE = ("CLIP", "Bit", "ConvNext", "Siglip", "LeViT", "Levit", "MobileNet", "MobileViT")
# What those processors do where a file says nothing, and which is meant if it does not say that either.
_PLAIN: dict[str, Any] = {"image_mean": (0.5,) * 3, "image_std": (0.5,) * 3, "size": 224, "resample": 3}
_CLIP = _PLAIN | {"crop_size": 224, "image_mean": CLIP_PIXELS.mean, "image_std": CLIP_PIXELS.std}
_SQUASHED = {"size": {"height": 224, "width": 224}, "do_center_crop": False}
_IMAGENET = {"image_mean": IMAGENET_PIXELS.mean, "image_std": IMAGENET_PIXELS.std}
_DEFAULTS: dict[str, dict[str, Any]] = {
    "ViT": _PLAIN | {"resample": 2, "do_center_crop": False},
    "DeiT": _PLAIN | {"size": 256, "crop_size": 224},
    "Beit": _PLAIN | {"do_center_crop": False},
    "ConvNext": _PLAIN | {"size": 384, "crop_pct": 0.875},
    "Siglip": _PLAIN | _SQUASHED,
    "DINOv3ViT": _PLAIN | _SQUASHED | _IMAGENET | {"resample": 2},
    "Bit": _CLIP,
    "CLIP": _CLIP,
}
_MEANT = {
    **dict.fromkeys(("vit", "vit_mae", "vit_msn", "ijepa"), "ViT"),
    **dict.fromkeys(("beit", "data2vec-vision"), "Beit"),
    **dict.fromkeys(("dinov2", "dinov2_with_registers"), "Bit"),
    **dict.fromkeys(("clip", "clip_vision_model"), "CLIP"),
    **dict.fromkeys(("siglip", "siglip_vision_model"), "Siglip"),
    "deit": "DeiT",
    "dinov3_vit": "DINOv3ViT",
}


def read_preprocessing(folder: Path) -> PhotoFit | None:
    """The fit of photos, according to a folder's preprocessor_config.json or timm's config.json.

    None if neither says how photos are resized, or if it is in another way, with a warning. Raises UserError
    if a file is unreadable, or states impossible sizes or an unknown filter.
    """
    for path, stated, is_timm in _stated_in(folder):
        try:
            found = _timm_fit(stated) if is_timm else _hugging_face_fit(stated)
        except UNREADABLE as error:
            raise _bad(path, "how photos are resized", error) from error
        if found and (longest := max(*found.frame, *found.size)) > 10_000:
            raise _bad(path, "how photos are resized", f"to {longest} pixels")
        if found:
            return found
        if not is_timm and stated.get("size") and stated.get("do_resize", True):
            warnings.warn(
                f"{path} resizes photos in a way that tinyvit does not have ({stated['size']}): they are "
                "scaled to cover the model's images, and their centre is cut out.",
                stacklevel=1,
            )
    return None


def read_pixel_scale(folder: Path) -> PixelScale | None:
    """The scale of pixels, according to a folder's preprocessor_config.json or timm's config.json.

    The returned mean and std are for pixels from 0 to 1, whatever rescale_factor the file has; None if
    neither file states them. Raises UserError if a file is unreadable, or does not state one mean and one
    positive std per channel.
    """
    for path, stated, _ in _stated_in(folder):
        try:
            span = _span(stated)
            if not stated.get("do_normalize", True):
                return PixelScale((0.0,) * 3, (1 / span,) * 3)
            mean = stated.get("image_mean", stated.get("mean"))
            std = stated.get("image_std", stated.get("std"))
            if mean is None or std is None:
                continue
            scale = PixelScale(tuple(float(m) / span for m in mean), tuple(float(s) / span for s in std))
        except UNREADABLE as error:
            raise _bad(path, "the scale of pixels", error) from error
        lengths = {len(scale.mean), len(scale.std)}
        if lengths not in ({1}, {3}, {4}) or not np.isfinite(scale).all() or min(scale.std) <= 0:
            raise UserError(
                f"{path} states mean {mean} and std {std} of the pixels, expected one number for each "
                "channel, with std above 0: correct it, or move it elsewhere to do without it."
            )
        return scale
    return None


def _stated_in(folder: Path) -> Iterator[tuple[Path, dict[str, Any], bool]]:
    """The files in a folder that may describe photos, their contents, and whether they are timm's."""
    for name, complete in _DESCRIPTIONS.items():
        path = folder / name
        if not path.is_file():
            continue
        try:
            stated = complete(read_json(path), folder)
        except UNREADABLE as error:
            raise _bad(path, "how photos are prepared", error) from error
        yield path, stated, name == "config.json"


def _with_defaults(stated: dict[str, Any], folder: Path) -> dict[str, Any]:
    """The steps of Hugging Face's processor, with the beginning of its name as "kind"."""
    kind = str(stated.get("image_processor_type") or stated.get("feature_extractor_type") or "")
    kind = kind.split("ImageProcessor")[0].split("FeatureExtractor")[0]
    if not kind and (folder / "config.json").is_file():
        kind = _MEANT.get(str(read_json(folder / "config.json").get("model_type")), "")
    return {"kind": kind} | _DEFAULTS.get(kind, {}) | stated


def _timms(stated: dict[str, Any], _: Path) -> dict[str, Any]:
    """The pretrained_cfg of timm's, in older files the whole; empty if it is not timm's."""
    if "architecture" not in stated:
        return {}
    fields = {"mean": IMAGENET_PIXELS.mean, "std": IMAGENET_PIXELS.std}
    given = dict(stated.get("pretrained_cfg") or stated)
    fields |= {name: value for name, value in given.items() if value is not None}
    changed = stated.get("model_args") or {}
    any_size = changed.get("dynamic_img_size") or changed.get("strict_img_size") is False
    if changed.get("img_size") and fields.get("fixed_input_size") and not any_size:
        fields["input_size"] = (3, *height_and_width(changed["img_size"]))
    return fields


_DESCRIPTIONS = {
    "preprocessor_config.json": _with_defaults,
    # transformers 5, for images and texts together
    "processor_config.json": lambda stated, folder: _with_defaults(
        stated.get("image_processor") or {}, folder
    ),
    "config.json": _timms,
}


def _span(stated: dict[str, Any]) -> float:
    """The value to which the largest pixel, 255, is rescaled: 1, unless stated otherwise."""
    if not stated.get("do_rescale", True):
        return 255.0
    span = 255 * float(stated.get("rescale_factor", 1 / 255))
    return 1.0 if abs(span - 1) < 1e-6 else span


def _timm_fit(stated: dict[str, Any]) -> PhotoFit | None:
    if not stated.get("input_size"):
        return None
    height, width = height_and_width(stated["input_size"][1:])
    share = float(stated.get("crop_pct") or 0.875)  # timm's own default
    frame = floor(height / share), floor(width / share)
    fit = TIMM_FITS[stated.get("crop_mode") or "center"]
    resample = _filter(stated.get("interpolation") or "bicubic")
    border = [round(255 * float(m)) for m in stated["mean"]]
    red, green, blue = border if len(border) == 3 else border[:1] * 3  # of grey, or of channels without a fit
    return PhotoFit(fit, frame, (height, width), resample, "timm", (red, green, blue))


def _hugging_face_fit(stated: dict[str, Any]) -> PhotoFit | None:
    size = stated.get("size")
    if size is None or not stated.get("do_resize", True):
        return None
    resample = stated.get("resample", 2)
    resample = _filter(2 if resample is None else resample)  # null is bilinear, in every processor
    if isinstance(size, int) and stated["kind"].startswith(_SHORTER_SIDE):
        size = {"shortest_edge": size}
    elif isinstance(size, int | list):
        size = dict(zip(("height", "width"), height_and_width(size), strict=True))
    if "height" in dict(size):
        fit, frame = "squash", (int(size["height"]), int(size["width"]))
    elif "shortest_edge" in size and "longest_edge" not in size:
        fit, frame = "crop", (int(size["shortest_edge"]),) * 2
        if stated.get("crop_pct") is not None:  # as in ConvNeXt: a small size is that of the crop
            fit, whole = (
                ("squash", frame[0]) if frame[0] >= 384 else (fit, int(frame[0] / float(stated["crop_pct"])))
            )
            return PhotoFit(fit, (whole, whole), frame, resample, "transformers")
    else:  # another method, which does not give all images the same size
        return None
    crop = stated.get("crop_size")
    if crop is None or not stated.get("do_center_crop", True):
        return PhotoFit(fit, frame, frame, resample, "transformers")
    if isinstance(crop, dict):
        crop = [crop["height"], crop["width"]]
    return PhotoFit(fit, frame, height_and_width(crop), resample, "transformers")


def _filter(stated: int | str) -> str:
    """The name of a filter, from its number or its name. ValueError if Pillow has no such filter."""
    name = FILTERS[stated] if isinstance(stated, int) and 0 <= stated < len(FILTERS) else stated
    if name not in FILTERS:
        raise ValueError(f"{stated!r} is not one of Pillow's filters")
    return name


def _bad(path: Path, what: str, why: object) -> UserError:
    return UserError(
        f"{path} does not describe {what} ({why}): correct it, or move it elsewhere to do without it."
    )
