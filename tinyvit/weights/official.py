"""The official checkpoints (.npz of google-research/vision_transformer): converting from and to their arrays.

The arrays are stored input-by-output, like tinyvit's, but attention has a separate axis for its heads, and
separate arrays for q, k and v:

    query, key, value   kernel (D, H, K), bias (H, K)         ours: qkv (D, 3D), columns (q k v, head, K)
    out                 kernel (H, K, D)                      ours: (D, D)
    embedding           kernel (P, P, 3, D)                   ours: (P P 3, D)

A hybrid also has the arrays of its ResNet, conv_root, gn_root and block{i}/unit{j}/..., counted from 1, and
its embedding reads the channels of the feature map instead of 3. In older files the arrays of GroupNorm have
shape (1, 1, 1, C).
"""

import re
from collections.abc import Collection
from typing import Any

import numpy as np

from tinyvit.model import Params, ViTConfig
from tinyvit.model.config import resnet_scale
from tinyvit.model.later import fields_known_to
from tinyvit.support.errors import UserError
from tinyvit.weights.arrays import (
    NamedArrays,
    described_config,
    empty_params,
    renamed,
    square_image_size,
    take_positions,
    unknown_resnet,
)
from tinyvit.weights.equivalent import with_all_biases, with_one_table, with_row_of_token, without_scales
from tinyvit.weights.fitting import GROUPS, check_others_have_it, fits_official, write_instead

_PREFIXES = ("opt/target/", "target/", "params/")
# Spellings found in practice, and the one in the released files.
_RENAMED = (
    ("MultiHeadDotProductAttention_0/", "MultiHeadDotProductAttention_1/"),
    ("LayerNorm_1/", "LayerNorm_2/"),
    ("MlpBlock_0/", "MlpBlock_3/"),
)
_BLOCK = "Transformer/encoderblock_{}/"
_ATTENTION = "MultiHeadDotProductAttention_1/"
_POSITION = "Transformer/posembed_input/pos_embedding"
_MOST_LAYERS = 1000  # stacked in one array
_GIVE_SIZE = "read it with tinyvit.weights.read.load_weights, which takes image_size=(height, width)"
_GROUP_NORM = r"(^|/)gn(_root|_proj|[123])/(scale|bias)$"


def is_official(arrays: Collection[str]) -> bool:
    """True if these arrays are named as in an official checkpoint, in any spelling."""
    return any(name.endswith("embedding/kernel") for name in arrays)


def from_official(
    arrays: dict[str, np.ndarray],
    source: str,
    image_size: tuple[int, int] | int | None = None,
    dtype: str = "float32",
) -> tuple[ViTConfig, Params]:
    """The configuration and parameters of an official checkpoint; source names the file in messages.

    Sizes, heads, pooling and pre_logits follow from the shapes; images are assumed to be square unless
    image_size is given. A file without a head gets one class with zero weights. Raises UserError if arrays
    are missing, have the wrong shape, or are left over.
    """
    table = NamedArrays(_usual_names(arrays, source), source)
    P, _, channels, D = table.shape("embedding/kernel", 4)
    resnet = _resnet(table)
    if resnet:
        channels = table.shape("conv_root/kernel", 4)[2]
    pixels = P * resnet_scale(resnet.get("resnet"))
    has_token, has_head = "cls" in table, "head/kernel" in table
    first = _BLOCK.format(0)
    # The position embedding is named so in big_vision, which has no row for the class token.
    is_big_vision = any(
        re.search(r"(^|/)pos_embedding$", name) for name in arrays if "posembed_input" not in name
    )
    fields = {
        "image_size": image_size
        or square_image_size(table, _POSITION, "cls", pixels, is_big_vision, _GIVE_SIZE),
        "patch_size": P,
        "width": D,
        "mlp_width": table.shape(first + "MlpBlock_3/Dense_0/kernel", 2)[1],
        "heads": table.shape(first + _ATTENTION + "query/kernel", 3)[1],
        "layers": table.count(r"Transformer/encoderblock_(\d+)/"),
        "classes": table.shape("head/kernel", 2)[1] if has_head else 1,
        "pool": "token" if has_token else "mean",
        "pre_logits": table.shape("pre_logits/kernel", 2)[1] if "pre_logits/kernel" in table else 0,
        "channels": channels,
        **resnet,
    }
    config = described_config(source, fields)
    params = empty_params(table, config, dtype)
    for row in params.rows:
        if row.name == "position":
            params[row.name] = take_positions(table, _POSITION, config)
        elif has_head or not row.name.startswith("head."):
            parts = [table.take(theirs, shape) for theirs, shape in row.official]
            parts = [part.reshape(*row.shape[:-1], row.shape[-1] // len(parts)) for part in parts]
            params[row.name] = np.concatenate(parts, axis=-1)
    table.finish()
    return config, params


def to_official(config: ViTConfig, params: Params) -> dict[str, np.ndarray]:
    """The arrays of an official checkpoint with these parameters.

    Raises UserError if the model's arithmetic or its positions differ from those of the official code.
    """
    check_others_have_it(config)
    if others := sorted(config.later_parts.keys() - fields_known_to("plain")):
        stated = ", ".join(f"{name} {getattr(config, name)!r}" for name in others)
        raise UserError(
            f"the official layout has no place for {stated}: other programs would compute something else. "
            f"Instead, {write_instead(config)}"
        )
    if not fits_official(config):
        ours = f"gelu {config.gelu!r}, eps {config.eps:g}"
        theirs = "'tanh' and 1e-06"
        if config.has_resnet:
            ours, theirs = f"{ours}, resnet_form {config.resnet_form!r}", "'tanh', 1e-06 and 'official'"
        raise UserError(
            f"a model with {ours} does not fit the official layout, which implies {theirs}: other programs "
            f"would compute something else. Instead, {write_instead(config)}"
        )
    config, params = with_row_of_token(*without_scales(*with_all_biases(*with_one_table(config, params))))
    arrays = {}
    for row in params.rows:
        parts = np.split(params[row.name], len(row.official), axis=-1)
        for (official_name, shape), part in zip(row.official, parts, strict=True):
            arrays[official_name] = np.ascontiguousarray(part).reshape(shape)
    return arrays


def _resnet(table: NamedArrays) -> dict[str, Any]:
    """The fields of the configuration that describe the ResNet of a hybrid; none for a plain ViT."""
    if "conv_root/kernel" not in table:
        return {}
    stages = table.count(r"block(\d+)/unit\d+/")
    units = tuple(table.count(rf"block{i + 1}/unit(\d+)/") for i in range(stages))
    width = table.shape("conv_root/kernel", 4)[3]
    if not all(units) or width % GROUPS:
        raise unknown_resnet(table.source, width, units)
    return {"resnet": units, "resnet_width": width, "resnet_groups": GROUPS}


def _usual_names(arrays: dict[str, np.ndarray], source: str) -> dict[str, np.ndarray]:
    """The same arrays under the names of the released files, with stacked layers separated."""
    usual = []
    for name, array in arrays.items():
        for prefix in _PREFIXES:
            name = name.removeprefix(prefix)
        if name == "pos_embedding":  # big_vision
            name = _POSITION
        for other, ours in _RENAMED:
            name = name.replace(other, ours)
        if re.search(_GROUP_NORM, name) and array.shape[:-1] == (1, 1, 1):  # as older files store it
            array = array.reshape(-1)
        stacked = re.fullmatch(r"Transformer/encoderblock/(.*)", name, re.DOTALL)
        if stacked and array.ndim and 0 < len(array) <= _MOST_LAYERS:
            usual += [(_BLOCK.format(i) + stacked[1], layer) for i, layer in enumerate(array)]
        else:
            usual.append((name, array))
    return renamed(usual, source)
