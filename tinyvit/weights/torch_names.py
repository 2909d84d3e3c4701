"""Reading checkpoints of timm, Hugging Face and torchvision, and writing the first two.

PyTorch stores a linear layer output-by-input and a patch embedding as a convolution; tinyvit's are
input-by-output:

    linear      weight (O, I)                                 ours: (I, O)
    patch       weight (D, 3, P, P)                           ours: (P P 3, D)
    q, k, v     one layer (3D, D), or three (D, D)            ours: (D, 3D)
    convolution weight (O, I, k, k)                           ours: (k, k, I, O), in the ResNet of a hybrid

The names are those of naming.py, in one spelling.
"""

from collections.abc import Iterable
from math import prod
from typing import Any

import numpy as np

from tinyvit.model import Params, ViTConfig
from tinyvit.model.later import fields_known_to
from tinyvit.support.errors import UserError
from tinyvit.weights import equivalent, fitting
from tinyvit.weights.arrays import NamedArrays, described_config, empty_params, renamed, take_positions
from tinyvit.weights.fields import fields_of
from tinyvit.weights.naming import (
    BACKBONE,
    HUGGING_FACE,
    TIMM,
    Naming,
    in_one_spelling,
    naming_of,
    usual_names,
)

# Hugging Face's classifier reads the class token itself, not the pooler; masks and decoders are used for
# self-supervised learning.
_UNUSED = r"(^|\.)mask_token$|^pooler\.dense\.|^decoder[._]|position_ids$|periods$|bias_mask$"
_UNUSED += "|relative_position_index$"
_RESNET_PART = r"((stem|stages\.\d+\.blocks\.\d+)\.)?(downsample\.)?(conv|norm)[123]?"  # as timm names it
_FOREIGN = {
    rf"(^|\.)patch_embed(dings)?\.backbone\.(?!{_RESNET_PART}\.\w+$)": (
        "belongs to a convolutional network before the ViT that is not the paper's ResNet"
    ),
    r"rel_pos|relpos": "belongs to relative positions",
}


def from_torch_names(
    arrays: dict[str, np.ndarray],
    source: str,
    known: dict[str, Any] | None = None,
    dtype: str = "float32",
    described: bool = False,
) -> tuple[ViTConfig, Params]:
    """The configuration and parameters of a timm, Hugging Face or torchvision checkpoint.

    source names the file in messages. known holds what is known from elsewhere: any fields of ViTConfig;
    described says whether a config.json was read for it. By default, the number of heads is that of the
    published model of the same width, epsilon and GELU are the library's, and images are square. A file
    without a head gets one class with zero weights. Arrays not needed for classification (mask tokens,
    decoders, Hugging Face's pooler, a text model) are ignored. Raises UserError if arrays are missing, have
    the wrong shape, or are left over, or if only a config.json could say what the model computes.
    """
    table = NamedArrays(_usual(arrays, source), source)
    table.drop(_UNUSED)
    table.refuse(_FOREIGN)
    names = naming_of(arrays, source)
    has_head = f"{names.head}.weight" in table
    fields = fields_of(table, names, dict(known or {}), described)
    if "resnet" not in fields:  # a convolution passes over the edge that patches do not cover
        size, P = fields["image_size"], fields["patch_size"]
        height, width = (size, size) if isinstance(size, int) else size
        fields["image_size"] = height - height % P, width - width % P
    config = described_config(source, fields)
    unclear = sorted(config.later_parts.keys() - fields_known_to("plain"))
    if any(name.endswith(".gamma_1") for name in arrays):  # timm's Eva: no array shows whether it has them
        unclear.append("rotary positions, perhaps")
    if unclear and not described:
        raise UserError(
            f"{source} is not the paper's ViT ({', '.join(unclear)}), and its arrays do not show all that it "
            "computes: put the config.json that was published with it in the same folder."
        )
    params = empty_params(table, config, dtype)
    for name, shape in params.shapes.items():
        if name == "position":
            params[name] = take_positions(table, names.position, config)
        elif has_head or not name.startswith(("head.", "head2.")):
            parts = [table.take(theirs, s) for theirs, s in sources_of(name, shape, config, names)]
            params[name] = to_ours(name, np.concatenate(parts), shape)
    table.finish()
    return config, params


def _usual(arrays: dict[str, np.ndarray], source: str) -> dict[str, np.ndarray]:
    """The arrays of the image side, in one spelling, without the prefix for the whole model."""
    better = usual_names([name for name, array in arrays.items() if array.size])  # no registers are no array
    usual = renamed([(new, arrays[name]) for name, new in better.items()], source)
    try:
        return in_one_spelling(usual)
    except (ValueError, TypeError, IndexError) as error:  # other shapes than those of a ViT
        raise UserError(
            f"{source} is not a plain ViT: its arrays do not have the shapes that their names imply "
            f"({error}). Choose another checkpoint."
        ) from error


def to_torch_names(config: ViTConfig, params: Params) -> dict[str, np.ndarray]:
    """The arrays of a checkpoint with these parameters, named as in the library with the same arithmetic.

    That is timm for an epsilon of 1e-6 and Hugging Face for 1e-12. Raises UserError if it is neither.
    """
    fitting.check_others_have_it(config)
    names = fitting.torch_naming(config)
    if names is None and (misfits := fitting.misfits_of_hybrid(config)):
        ours = _stated(config, misfits)
        theirs = ", ".join(repr(fitting.TIMM_HYBRID[name]) for name in misfits)
        raise UserError(
            f"a hybrid with {ours} does not fit timm's layout, which implies {theirs}. Instead, "
            f"{fitting.write_instead(config)}"
        )
    if names is None:
        raise UserError(
            "other programs would compute something else from a .safetensors file of this model: its "
            f"{_stated(config, ['gelu', 'eps', 'pool', 'pre_logits', *config.later_parts])} are neither "
            "timm's, 'exact' and 1e-06, nor Hugging Face's, 'exact', 1e-12, 'token' and 0. "
            f"Instead, {fitting.write_instead(config)}"
        )
    return _named(config, params, names)


def _stated(config: ViTConfig, names: Iterable[str]) -> str:
    """Fields of a model and their values, each once."""
    return ", ".join(f"{name} {getattr(config, name)!r}" for name in dict.fromkeys(names))


def to_hugging_face(config: ViTConfig, params: Params) -> dict[str, np.ndarray]:
    """The arrays of a Hugging Face checkpoint, whose config.json states GELU and epsilon.

    Raises UserError if Hugging Face does not support such a model.
    """
    fitting.check_others_have_it(config)
    if config.has_resnet:
        raise UserError(f"Hugging Face's ViT has no ResNet. Instead, {fitting.write_instead(config)}")
    if misfits := fitting.misfits_of_hugging_face(config):
        raise UserError(
            f"Hugging Face's ViT has no place for {_stated(config, misfits)}. Instead, "
            f"{fitting.write_instead(config)}"
        )
    return _named(config, params, HUGGING_FACE)


def to_timm(config: ViTConfig, params: Params) -> dict[str, np.ndarray]:
    """The arrays of a timm checkpoint, whose config.json states GELU and pooling.

    Raises UserError if timm does not support such a model.
    """
    fitting.check_others_have_it(config)
    if not fitting.fits_timm(config):
        others = ", ".join(config.later_parts.keys() - fields_known_to("timm"))
        raise UserError(
            f"a folder for timm cannot hold eps {config.eps:g}, pre_logits {config.pre_logits} and "
            f"resnet {config.resnet}, only with 1e-06, 0 and None{others and f', nor {others}'}. Instead, "
            f"{fitting.write_instead(config)}"
        )
    return _named(config, params, TIMM, scales=True)


def _named(config: ViTConfig, params: Params, names: Naming, scales: bool = False) -> dict[str, np.ndarray]:
    """The arrays by the library's names, LayerScale among them if the library is to be told of it."""
    config, params = equivalent.with_all_biases(*equivalent.with_one_table(config, params))
    if config.registers or (scales and config.position_on == "patches"):
        config, params = equivalent.without_row_of_token(config, params)
    else:
        config, params = equivalent.with_row_of_token(config, params)
    if not scales:
        config, params = equivalent.without_scales(config, params)
    arrays = {}
    for name, shape in params.shapes.items():
        sources = sources_of(name, shape, config, names)
        parts = np.split(_to_theirs(name, params[name], config), len(sources))
        for (theirs, their_shape), part in zip(sources, parts, strict=True):
            whole = "" if theirs.startswith(names.head + ".") else names.whole
            arrays[whole + theirs] = np.ascontiguousarray(part).reshape(their_shape)
    return arrays


def sources_of(
    name: str, shape: tuple[int, ...], config: ViTConfig, names: Naming
) -> list[tuple[str, tuple]]:
    """The names and shapes of the arrays that are concatenated to make up a parameter."""
    D, P = config.width, config.patch_size
    if name in ("class_token", "position", "registers", "distillation_token"):
        return [(getattr(names, name), (1, prod(shape) // D, D))]
    if name == "patch.weight":
        return [(f"{names.patch}.weight", (D, config.feature_map[2], P, P))]
    if name.startswith("resnet."):
        kernel = shape if len(shape) < 4 else tuple(shape[axis] for axis in (3, 2, 0, 1))
        return [(_resnet_source(name, config.resnet or ()), kernel)]
    if name == "pool.attn.probe":
        return [("attn_pool.latent", (1, 1, D))]
    if name.startswith("pool."):
        ours = name.removeprefix("pool.").removeprefix("attn.").replace("out.", "proj.")
        return [(f"attn_pool.{ours}", shape[::-1])]
    *block, layer, part = name.split(".")  # blocks.3.attn.qkv.weight, blocks.3.scale1, head.bias
    if block == ["blocks"] and part in ("scale1", "scale2", "position", "rotary"):
        array = {"position": names.bias_table, "rotary": "rotary"}.get(part) or getattr(names, part)
        return [(names.block.format(layer) + array, shape)]
    prefix = names.block.format(block[1]) if block else ""
    pooled = layer == "norm" and config.final_norm == "pooled"
    theirs: Any = names.pooled_norm if pooled else getattr(names, layer)
    layers: tuple[str, ...] = theirs if layer == "qkv" else (theirs,)
    if layer == "qkv" and part == "bias" and config.qkv_bias == "qv" and len(layers) == 3:
        layers = (layers[0], layers[2])
    *inputs, outputs = shape
    return [(f"{prefix}{one}.{part}", (outputs // len(layers), *inputs)) for one in layers]


def _resnet_source(name: str, units: tuple[int, ...]) -> str:
    """timm's name for a parameter of a ResNet with these units, such as resnet.0.1.conv_proj.weight."""
    _, *place, layer, part = name.split(".")
    layer = layer.replace("conv_proj", "downsample.conv").replace("norm_proj", "downsample.norm")
    if place == ["root"]:
        return f"{BACKBONE}{'stem.' if units else ''}{layer}.{part}"
    return f"{BACKBONE}stages.{place[0]}.blocks.{place[1]}.{layer}.{part}"


def to_ours(name: str, array: np.ndarray, shape: tuple[int, ...]) -> np.ndarray:
    """The array that another library stores, in the order of axes of the parameter of that name and shape."""
    if array.ndim == 4:  # a convolution
        array = array.transpose(2, 3, 1, 0)
    elif name.endswith(".weight"):
        array = array.T
    return array.reshape(shape)


def _to_theirs(name: str, array: np.ndarray, config: ViTConfig) -> np.ndarray:
    if name == "patch.weight":
        P = config.patch_size
        array = array.reshape(P, P, config.feature_map[2], config.width)
    if array.ndim == 4:  # a convolution
        return array.transpose(3, 2, 0, 1)
    return array.T if name.endswith(".weight") else array
