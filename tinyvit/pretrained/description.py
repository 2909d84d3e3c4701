"""The config.json that timm and Hugging Face put beside a file of weights: what the arrays cannot tell.

The number of heads, the epsilon of LayerNorm, the form of GELU, the sides of an image that is not square,
and what is averaged before the head leave no trace in the shapes of arrays. Nor do the names of the classes
and the scale of the pixels, which Hugging Face keeps in a preprocessor_config.json.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from tinyvit.errors import UserError
from tinyvit.pretrained.pixels import PixelScale

# What the two forms are called, by Hugging Face (hidden_act) and by timm (act_layer).
_GELU = {"gelu": "exact", "gelu_python": "exact"} | dict.fromkeys(
    ("gelu_new", "gelu_pytorch_tanh", "gelu_fast", "gelu_accurate", "gelu_tanh"), "tanh"
)
# What reading a file that is not as it should be may raise.
_UNREADABLE = (OSError, ValueError, TypeError, AttributeError, LookupError, OverflowError, RecursionError)
_POOL = {"token": "token", "avg": "mean"}


def read_description(path: Path) -> dict[str, Any]:
    """Those fields of a ViTConfig (heads, eps, gelu, image_size, pool) that a config.json states, if any.

    Nothing if there is no such file. Raises UserError if it is unreadable or states what tinyvit has not.
    """
    if not path.is_file():
        return {}
    try:
        stated = json.loads(path.read_text(encoding="utf-8"))
        known = _timm(stated) if "architecture" in stated else _hugging_face(stated)
    except _UNREADABLE as error:
        raise UserError(
            f"{path} does not describe a model ({error}): mend it, or move it elsewhere to do without it."
        ) from error
    for what, value, choices in (
        ("nonlinearity", known.get("gelu"), _GELU),
        ("pooling", known.get("pool"), _POOL),
    ):
        if value is not None and value not in choices.values():
            raise UserError(f"{path} names the {what} {value!r}, tinyvit has {', '.join(choices)}.")
    return known


def read_class_names(path: Path, count: int) -> tuple[str, ...] | None:
    """Names of so many classes, from the config.json of timm, Hugging Face or a run; None if it has none."""
    try:
        stated = json.loads(path.read_text(encoding="utf-8"))
        names = stated.get("classes") or stated.get("label_names") or stated["id2label"]
        if len(names) != count:
            return None
        return tuple(str(names[str(c) if isinstance(names, dict) else c]) for c in range(count))
    except _UNREADABLE:
        return None


def read_pixel_scale(folder: Path) -> PixelScale | None:
    """What Hugging Face's preprocessor_config.json or timm's config.json in a folder states, if any does.

    Raises UserError if such a file is unreadable, or states no positive std for each of three channels.
    """
    for name in ("preprocessor_config.json", "config.json"):
        path = folder / name
        if not path.is_file():
            continue
        try:
            stated = json.loads(path.read_text(encoding="utf-8"))
            if name == "config.json":
                stated = stated.get("pretrained_cfg") or {}
            if not stated.get("do_normalize", True):
                return PixelScale((0.0,) * 3, (1.0,) * 3)
            mean = stated.get("image_mean", stated.get("mean"))
            std = stated.get("image_std", stated.get("std"))
            if mean is None or std is None:
                continue
            scale = PixelScale(tuple(map(float, mean)), tuple(map(float, std)))
        except _UNREADABLE as error:
            raise UserError(f"{path} does not describe pixels ({error}): mend it, or move it.") from error
        if not (len(scale.mean) == len(scale.std) == 3 and np.isfinite(scale).all() and min(scale.std) > 0):
            raise UserError(
                f"{path} states mean {mean} and std {std} of the pixels, expected three numbers each, std "
                "above 0: mend it, or move it."
            )
        return scale
    return None


def _hugging_face(stated: dict[str, Any]) -> dict[str, Any]:
    return _where_stated(
        heads=(stated.get("num_attention_heads"), int),
        eps=(stated.get("layer_norm_eps"), float),
        gelu=(stated.get("hidden_act"), lambda name: _GELU.get(name, name)),
        image_size=(stated.get("image_size"), _height_and_width),
    )


def _timm(stated: dict[str, Any]) -> dict[str, Any]:
    arguments = stated.get("model_args") or {}
    input_size = (stated.get("pretrained_cfg") or {}).get("input_size")  # (3, H, W)
    return _where_stated(
        heads=(arguments.get("num_heads"), int),
        gelu=(arguments.get("act_layer"), lambda name: _GELU.get(name, name)),
        image_size=(arguments.get("img_size") or (input_size[1:] if input_size else None), _height_and_width),
        pool=(stated.get("global_pool"), lambda name: _POOL.get(name, name)),
    )


def _where_stated(**fields: tuple[Any, Callable]) -> dict[str, Any]:
    """The fields that have a value, each through its function."""
    return {name: convert(value) for name, (value, convert) in fields.items() if value is not None}


def _height_and_width(stated: int | list[int]) -> tuple[int, int]:
    height, width = (stated, stated) if isinstance(stated, int) else stated
    return int(height), int(width)
