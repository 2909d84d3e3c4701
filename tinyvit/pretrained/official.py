"""The official checkpoints (.npz of google-research/vision_transformer): names and shapes, both ways.

The arrays are stored input-by-output, as tinyvit's are; attention keeps its heads apart, q, k and v by
themselves:

    query, key, value   kernel (D, H, K), bias (H, K)         ours: qkv (D, 3D), columns (q k v, head, K)
    out                 kernel (H, K, D)                      ours: (D, D)
    embedding           kernel (P, P, 3, D)                   ours: (P P 3, D)
"""

from __future__ import annotations

import re

import numpy as np

from tinyvit.errors import UserError
from tinyvit.model import Params, ViTConfig, parameter_shapes
from tinyvit.pretrained.arrays import NamedArrays

_PREFIXES = ("opt/target/", "target/", "params/")
# Spellings met in the wild, and the one of the released files.
_RENAMED = (
    ("MultiHeadDotProductAttention_0/", "MultiHeadDotProductAttention_1/"),
    ("LayerNorm_1/", "LayerNorm_2/"),
    ("MlpBlock_0/", "MlpBlock_3/"),
)
_BLOCK = "Transformer/encoderblock_{}/"
_ATTENTION = "MultiHeadDotProductAttention_1/"


def is_official(names: set[str]) -> bool:
    """Whether the names of a file's arrays are those of an official checkpoint, in any of its spellings."""
    return any(name.endswith("embedding/kernel") for name in names)


def from_official(arrays: dict[str, np.ndarray], source: str) -> tuple[ViTConfig, Params]:
    """Model and parameters (float32) of an official checkpoint; source names the file in messages.

    Sizes, heads, pooling and pre_logits are read off the shapes; images are taken to be square. Raises
    UserError if arrays are missing, misshapen, or left over.
    """
    table = NamedArrays(_usual_names(arrays), source)
    if "conv_root/kernel" in table:
        raise UserError(f"{source} is a hybrid (a ResNet before the ViT): tinyvit cannot use these yet.")
    P, _, channels, D = table.shape("embedding/kernel")
    _, H, _ = table.shape(_BLOCK.format(0) + _ATTENTION + "query/kernel")
    has_token = "cls" in table
    _, N, _ = table.shape("Transformer/posembed_input/pos_embedding")
    side = round((N - has_token) ** 0.5)
    config = ViTConfig(
        image_size=side * P,
        patch_size=P,
        width=D,
        mlp_width=table.shape(_BLOCK.format(0) + "MlpBlock_3/Dense_0/kernel")[1],
        heads=H,
        layers=table.count(r"Transformer/encoderblock_(\d+)/"),
        classes=table.shape("head/kernel")[1],
        pool="token" if has_token else "mean",
        pre_logits=table.shape("pre_logits/kernel")[1] if "pre_logits/kernel" in table else 0,
        channels=channels,
    )
    params = Params.zeros(parameter_shapes(config))
    for name, shape in params.shapes.items():
        sources = [table.take(source_name, s) for source_name, s in _sources(name, shape, config)]
        params[name] = np.concatenate([a.reshape(*shape[:-1], -1) for a in sources], axis=-1).reshape(shape)
    table.finish()
    return config, params


def to_official(config: ViTConfig, params: Params) -> dict[str, np.ndarray]:
    """The arrays of an official checkpoint with these parameters."""
    arrays = {}
    for name, shape in params.shapes.items():
        sources = _sources(name, shape, config)
        parts = np.split(params[name], len(sources), axis=-1)
        for (official_name, official_shape), part in zip(sources, parts, strict=True):
            arrays[official_name] = np.ascontiguousarray(part).reshape(official_shape)
    return arrays


def _sources(name: str, shape: tuple[int, ...], config: ViTConfig) -> list[tuple[str, tuple[int, ...]]]:
    """The official arrays, with their shapes, that side by side make up a parameter."""
    D, H = config.width, config.heads
    K, P = D // H, config.patch_size
    top = {
        "patch.weight": ("embedding/kernel", (P, P, config.channels, D)),
        "patch.bias": ("embedding/bias", shape),
        "class_token": ("cls", (1, 1, D)),
        "position": ("Transformer/posembed_input/pos_embedding", (1, *shape)),
        "norm.weight": ("Transformer/encoder_norm/scale", shape),
        "norm.bias": ("Transformer/encoder_norm/bias", shape),
        "pre_logits.weight": ("pre_logits/kernel", shape),
        "pre_logits.bias": ("pre_logits/bias", shape),
        "head.weight": ("head/kernel", shape),
        "head.bias": ("head/bias", shape),
    }
    if name in top:
        return [top[name]]
    _, number, rest = name.split(".", 2)
    prefix = _BLOCK.format(number)
    if rest.startswith("attn.qkv"):
        part, part_shape = ("kernel", (D, H, K)) if rest.endswith("weight") else ("bias", (H, K))
        return [(f"{prefix}{_ATTENTION}{which}/{part}", part_shape) for which in ("query", "key", "value")]
    inside = {
        "norm1.weight": ("LayerNorm_0/scale", shape),
        "norm1.bias": ("LayerNorm_0/bias", shape),
        "attn.out.weight": (_ATTENTION + "out/kernel", (H, K, D)),
        "attn.out.bias": (_ATTENTION + "out/bias", shape),
        "norm2.weight": ("LayerNorm_2/scale", shape),
        "norm2.bias": ("LayerNorm_2/bias", shape),
        "mlp.fc1.weight": ("MlpBlock_3/Dense_0/kernel", shape),
        "mlp.fc1.bias": ("MlpBlock_3/Dense_0/bias", shape),
        "mlp.fc2.weight": ("MlpBlock_3/Dense_1/kernel", shape),
        "mlp.fc2.bias": ("MlpBlock_3/Dense_1/bias", shape),
    }
    official_name, official_shape = inside[rest]
    return [(prefix + official_name, official_shape)]


def _usual_names(arrays: dict[str, np.ndarray]) -> dict[str, np.ndarray]:
    """The same arrays under the names of the released files, stacked layers taken apart."""
    usual = {}
    for name, array in arrays.items():
        for prefix in _PREFIXES:
            name = name.removeprefix(prefix)
        if name == "pos_embedding":  # big_vision
            name = "Transformer/posembed_input/pos_embedding"
        for other, ours in _RENAMED:
            name = name.replace(other, ours)
        stacked = re.fullmatch(r"Transformer/encoderblock/(.*)", name)
        if stacked:
            usual |= {_BLOCK.format(i) + stacked[1]: layer for i, layer in enumerate(array)}
        else:
            usual[name] = array
    return usual
