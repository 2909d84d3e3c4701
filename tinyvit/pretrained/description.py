"""The config.json that timm and Hugging Face put beside a file of weights: what the arrays cannot tell.

The number of heads, the epsilon of LayerNorm, the form of GELU, the sides of an image that is not square,
and what is averaged before the head leave no trace in the shapes of arrays.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

from tinyvit.errors import UserError

# What the two forms are called, by Hugging Face (hidden_act) and by timm (act_layer).
_GELU = {"gelu": "exact", "gelu_python": "exact"} | dict.fromkeys(
    ("gelu_new", "gelu_pytorch_tanh", "gelu_fast", "gelu_accurate", "gelu_tanh"), "tanh"
)
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
    except (OSError, ValueError, TypeError, AttributeError, KeyError, RecursionError) as error:
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
