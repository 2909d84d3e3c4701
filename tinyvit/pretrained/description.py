"""The config.json that timm and Hugging Face put beside a file of weights: what the arrays cannot tell.

The number of heads, the epsilon of LayerNorm, the form of GELU, the sides of an image that is not square,
and what is averaged before the head leave no trace in the shapes of arrays. Nor do the names of the classes.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from tinyvit.errors import UserError
from tinyvit.model import ViTConfig

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


def hugging_face_description(config: ViTConfig, classes: Sequence[str]) -> dict[str, Any]:
    """The content of a config.json with which Hugging Face's ViTForImageClassification computes the same."""
    height, width = config.image_size
    return {
        "architectures": ["ViTForImageClassification"],
        "model_type": "vit",
        "image_size": height if height == width else [height, width],
        "patch_size": config.patch_size,
        "num_channels": config.channels,
        "hidden_size": config.width,
        "intermediate_size": config.mlp_width,
        "num_attention_heads": config.heads,
        "num_hidden_layers": config.layers,
        "hidden_act": {"exact": "gelu", "tanh": "gelu_pytorch_tanh"}[config.gelu],
        "layer_norm_eps": config.eps,
        "qkv_bias": True,
        "id2label": {str(c): name for c, name in enumerate(classes)},
        "label2id": {name: c for c, name in enumerate(classes)},
    }


def hugging_face_preprocessing(config: ViTConfig) -> dict[str, Any]:
    """The content of a preprocessor_config.json: pixels from -1 to 1, in the size of the model."""
    height, width = config.image_size
    return {
        "image_processor_type": "ViTImageProcessor",
        "do_resize": True,
        "size": {"height": height, "width": width},
        "resample": 3,  # bicubic
        "do_rescale": True,
        "rescale_factor": 1 / 255,
        "do_normalize": True,
        "image_mean": [0.5] * config.channels,
        "image_std": [0.5] * config.channels,
    }


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
