"""Reading checkpoints of timm, Hugging Face and torchvision, and writing the first two; see naming.py.

PyTorch stores a linear layer output-by-input and a patch embedding as a convolution; tinyvit's are
input-by-output:

    linear      weight (O, I)                                 ours: (I, O)
    patch       weight (D, 3, P, P)                           ours: (P P 3, D)
    q, k, v     one layer (3D, D), or three (D, D)            ours: (D, 3D)
    convolution weight (O, I, k, k)                           ours: (k, k, I, O), in the ResNet of a hybrid

The names are those of one spelling: see spellings.py.
"""

import re
from collections.abc import Collection
from math import prod
from typing import Any

import numpy as np

from tinyvit.errors import UserError
from tinyvit.model import Params, ViTConfig
from tinyvit.model.config import resnet_scale
from tinyvit.model.rotary import Rotary
from tinyvit.weights.arrays import (
    NamedArrays,
    described_config,
    empty_params,
    renamed,
    square_image_size,
    take_positions,
    unknown_resnet,
)
from tinyvit.weights.fitting import (
    TIMM_HYBRID,
    TIMM_PARTS,
    TIMM_RESNET,
    check_others_have_it,
    fits_hugging_face,
    fits_timm,
    misfits_of_hybrid,
    torch_naming,
    write_instead,
)
from tinyvit.weights.naming import CLIP, HUGGING_FACE, OPENAI, TIMM, Naming, recognise
from tinyvit.weights.plain import (
    with_all_biases,
    with_one_table,
    with_row_of_token,
    without_row_of_token,
    without_scales,
)
from tinyvit.weights.spellings import image_side, in_one_spelling

_PREFIXES: tuple[str, ...] = ("module.", "model.", "backbone.", "timm_model.")
_PREFIXES += ("vit.", "deit.", "ijepa.", "beit.", "data2vec_vision.", "dinov2.", "dinov2_with_registers.")
# torchvision's other spellings, and the ones in its naming.
_RENAMED = {
    r"self_attention\.in_proj_(weight|bias)$": r"self_attention.in_proj.\1",
    r"^(encoder\.layers\.\w+\.mlp)\.linear_1\.": r"\1.0.",
    r"^(encoder\.layers\.\w+\.mlp)\.linear_2\.": r"\1.3.",
}
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
# The ResNet of timm's hybrids. Without stages, it consists of its stem, and that word is omitted.
_BACKBONE = "patch_embed.backbone."
_STEMS = (f"{_BACKBONE}stem.conv.weight", f"{_BACKBONE}conv.weight")
_EVIDENT = {"layer_scale", "qkv_bias", "position_on"}  # parts that the arrays show, and nothing comes with
_STATE_SIZE = 'put {"image_size": [height, width]} into a config.json beside it'
# Width -> heads of published models: a head is 64 wide, except in the largest (SO400M, H, g, G).
_USUAL_HEADS = {64 * heads: heads for heads in (3, 5, 6, 8, 10, 12, 13, 14, 16)}
_USUAL_HEADS |= dict.fromkeys((1152, 1280, 1408, 1664), 16)


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
    known = dict(known or {})
    table = NamedArrays(_usual(arrays, source), source)
    table.drop(_UNUSED)
    table.refuse(_FOREIGN)
    names = naming_of(arrays, source)
    resnet = _resnet(table)
    fields = _shape_fields(table, names, known, resnet) | resnet
    fields["heads"] = (
        known["heads"]
        if "heads" in known
        else _usual_heads(fields["width"], names.class_token in table, source, described)
    )
    has_head = f"{names.head}.weight" in table
    if not resnet:
        check_whole_patches((fields | known)["image_size"], fields["patch_size"], source)
    config = described_config(source, fields | known)
    if not described and (unclear := config.later_parts.keys() - _EVIDENT or _is_eva(arrays)):
        raise UserError(
            f"{source} is not the paper's ViT ({', '.join(unclear)}), and its arrays do not show all that it "
            "computes: put the config.json that was published with it in the same folder."
        )
    params = empty_params(table, config, dtype)
    for name, shape in params.shapes.items():
        if name == "position":
            params[name] = take_positions(table, names.position, config)
        elif has_head or not name.startswith("head."):
            parts = [table.take(theirs, s) for theirs, s in _sources(name, shape, config, names)]
            params[name] = _to_ours(name, np.concatenate(parts), shape)
    table.finish()
    return config, params


def _usual(arrays: dict[str, np.ndarray], source: str) -> dict[str, np.ndarray]:
    """The arrays of the image side, in one spelling, without the prefix for the whole model."""
    better = _image_side([name for name, array in arrays.items() if array.size])  # no registers are no array
    return in_one_spelling(renamed([(new, arrays[name]) for name, new in better.items()], source))


def _image_side(names: Collection[str]) -> dict[str, str]:
    """Names of arrays, and their usual names."""
    better = image_side([usual_name(name) for name in names])
    return {name: better[usual_name(name)] for name in names if usual_name(name) in better}


def _is_eva(names: Collection[str]) -> set[str]:
    """Whether these are arrays of timm's Eva, which may turn queries and keys: as the name of that part."""
    return {"rotary positions, perhaps"} if any(re.search(r"\.gamma_1$", name) for name in names) else set()


def _shape_fields(
    table: NamedArrays, names: Naming, known: dict[str, Any], resnet: dict[str, Any]
) -> dict[str, Any]:
    """The fields of the configuration that the arrays show, or that the library takes for granted."""
    D, channels, P, _ = table.shape(f"{names.patch}.weight", 4)
    if resnet:
        channels = table.shape(_resnet_source("resnet.root.conv.weight", resnet["resnet"]), 4)[1]
    first = names.block.format(0)
    has_token = names.class_token in table
    head = f"{names.head}.weight"
    outputs, inputs = table.shape(head, 2) if head in table else (1, D)
    mlp_width = table.shape(f"{first}{names.fc2}.weight", 2)[1]
    registers = table.shape(names.registers, 3)[1] if names.registers in table else 0
    has_second = names.distillation_token in table
    pool = known.get("pool") or ("token" if has_token else "mean")
    if inputs == 2 * D:
        pool = "both"
    elif f"{names.head2}.weight" in table:
        pool = "distilled"
    elif known.get("pool") in (None, "attention") and "attn_pool.latent" in table:
        pool = "attention"
        pool_mlp_width = table.shape("attn_pool.mlp.fc2.weight", 2)[1]
        known["pool_mlp_width"] = 0 if pool_mlp_width == mlp_width else pool_mlp_width
    if pool != "attention":
        table.drop(r"^attn_pool\.")  # a classifier that was added pools without it
    known["pool"] = pool
    if has_second and pool != "distilled":  # learned with another head, and read by nobody now
        registers, known["position_on"] = registers + 1, "all"
        table.rename(names.distillation_token, names.registers)
    pre_logits = f"{names.pre_logits}.weight"
    fields: dict[str, Any] = {
        "patch_size": P,
        "width": D,
        "mlp_width": mlp_width,
        "layers": table.count(_in_any_block(names, "")),
        "classes": outputs,
        "class_token": None if has_token == (pool in ("token", "both", "distilled")) else has_token,
        "registers": registers,
        "pre_logits": table.shape(pre_logits, 2)[0] if pre_logits in table else 0,
        "gelu": names.gelu,
        "eps": names.eps,
        "channels": channels,
        "pre_norm": f"{names.pre_norm}.weight" in table,
        "patch_bias": f"{names.patch}.bias" in table,
        "head_bias": head not in table or f"{names.head}.bias" in table,
        "qkv_bias": _qkv_bias(table, names, D),
        "qk_norm": f"{first}{names.q_norm}.weight" in table,
        "attention_norm": f"{first}{names.attention_norm}.weight" in table,
        "mlp_norm": f"{first}{names.mlp_norm}.weight" in table,
        "gated": table.shape(f"{first}{names.fc1}.weight", 2)[0] == 2 * mlp_width,
        "layer_scale": 1e-5 if first + names.scale1 in table else 0.0,
        "final_norm": _final_norm(table, names, pool),
    }
    if names in (CLIP, OPENAI) and outputs > 1 and not fields["head_bias"]:
        fields["predicts"] = "embedding"
    if first + names.bias_table in table:
        fields["position"] = "bias"
    if f"{first}rotary" in table:
        fields["rotary"] = Rotary(pairs=True, learned=True)
    prefix = has_token + registers + (pool == "distilled")
    pixels = P * resnet_scale(resnet.get("resnet"))
    if names.position not in table:
        fields.setdefault("position", "none")
        if "image_size" not in known:
            raise UserError(f"{table.source} does not state the size of its images: {_STATE_SIZE}.")
    else:
        rows = table.shape(names.position, 3)[1]
        is_deit_3 = names is TIMM and first + names.scale1 in table
        size = known.get("image_size") or square_image_size(
            table, names.position, names.class_token, pixels, is_deit_3, _STATE_SIZE, prefix
        )
        known["image_size"] = size
        height, width = (size, size) if isinstance(size, int) else size
        lacking = prefix - (rows - (height // pixels) * (width // pixels))
        if prefix and not resnet and "position_on" not in known:
            without = {prefix: "patches", registers: "class"} | ({0: "all"} if registers else {})
            fields["position_on"] = without.get(lacking, "class")
    return fields


def _qkv_bias(table: NamedArrays, names: Naming, width: int) -> str:
    """Which of queries, keys and values have a bias, in every block."""
    first = names.block.format(0)
    has = [f"{first}{layer}.bias" in table for layer in names.qkv]
    if len(names.qkv) == 1:
        full = has[0] and table.shape(f"{first}{names.qkv[0]}.bias", 1) == (3 * width,)
        has = [has[0], full, has[0]]
    return "all" if all(has) else "qv" if has[0] and has[2] else "none"


def _final_norm(table: NamedArrays, names: Naming, pool: str) -> str:
    """Where the last LayerNorm is. Of a single token, it is the same before and after choosing it."""
    has_pooled = f"{names.pooled_norm}.weight" in table
    if has_pooled and pool == "token":
        for part in ("weight", "bias"):
            table.rename(f"{names.pooled_norm}.{part}", f"{names.norm}.{part}")
    if f"{names.norm}.weight" in table:
        return "tokens"
    return "pooled" if has_pooled else "none"


def naming_of(names: Collection[str], source: str) -> Naming:
    """The naming that these names follow. Raises UserError if they are not from a known library."""
    names = set(_image_side(names).values())
    if (found := recognise(names)) is None:
        raise UserError(
            f"{source} is not a ViT that tinyvit knows: expected arrays named as in the official .npz files, "
            "or as timm, Hugging Face or torchvision name them."
        )
    return found


def usual_name(name: str) -> str:
    """The name of an array without the prefix for the whole model, in a uniform spelling."""
    for prefix in _PREFIXES:
        name = name.removeprefix(prefix)
    for other, ours in _RENAMED.items():
        name = re.sub(other, ours, name)
    return name


def to_torch_names(config: ViTConfig, params: Params) -> dict[str, np.ndarray]:
    """The arrays of a checkpoint with these parameters, named as in the library with the same arithmetic.

    That is timm for an epsilon of 1e-6 and Hugging Face for 1e-12. Raises UserError if it is neither.
    """
    check_others_have_it(config)
    names = torch_naming(config)
    if names is None and (misfits := misfits_of_hybrid(config)):
        ours = ", ".join(f"{name} {getattr(config, name)!r}" for name in misfits)
        theirs = ", ".join(repr(TIMM_HYBRID[name]) for name in misfits)
        raise UserError(
            f"a hybrid with {ours} does not fit timm's layout, which implies {theirs}. Instead, "
            f"{write_instead(config)}"
        )
    if names is None:
        raise UserError(
            "other programs would compute something else from a .safetensors file of this model, whose gelu "
            f"{config.gelu!r}, eps {config.eps:g}, pool {config.pool!r} and pre_logits {config.pre_logits} "
            "are neither timm's, 'exact' and 1e-06, nor Hugging Face's, 'exact', 1e-12, 'token' and 0. "
            f"Instead, {write_instead(config)}"
        )
    return _named(config, params, names)


def to_hugging_face(config: ViTConfig, params: Params) -> dict[str, np.ndarray]:
    """The arrays of a Hugging Face checkpoint, whose config.json states GELU and epsilon.

    Raises UserError if Hugging Face does not support such a model.
    """
    check_others_have_it(config)
    if config.has_resnet:
        raise UserError(f"Hugging Face's ViT has no ResNet. Instead, {write_instead(config)}")
    if not fits_hugging_face(config):
        raise UserError(
            f"Hugging Face does not support a model with pool {config.pool!r} and pre_logits "
            f"{config.pre_logits}, only 'token' and 0. Instead, {write_instead(config)}"
        )
    return _named(config, params, HUGGING_FACE)


def to_timm(config: ViTConfig, params: Params) -> dict[str, np.ndarray]:
    """The arrays of a timm checkpoint, whose config.json states GELU and pooling.

    Raises UserError if timm does not support such a model.
    """
    check_others_have_it(config)
    if not fits_timm(config):
        others = ", ".join(config.later_parts.keys() - TIMM_PARTS)
        raise UserError(
            f"a folder for timm cannot hold eps {config.eps:g}, pre_logits {config.pre_logits} and "
            f"resnet {config.resnet}, only with 1e-06, 0 and None{others and f', nor {others}'}. Instead, "
            f"{write_instead(config)}"
        )
    return _named(config, params, TIMM, scales=True)


def _named(config: ViTConfig, params: Params, names: Naming, scales: bool = False) -> dict[str, np.ndarray]:
    """The arrays by the library's names, LayerScale among them if the library is to be told of it."""
    config, params = with_all_biases(*with_one_table(config, params))
    if config.registers or (scales and config.position_on == "patches"):
        config, params = without_row_of_token(config, params)
    else:
        config, params = with_row_of_token(config, params)
    if not scales:
        config, params = without_scales(config, params)
    arrays = {}
    for name, shape in params.shapes.items():
        sources = _sources(name, shape, config, names)
        parts = np.split(_to_theirs(name, params[name], config), len(sources))
        for (theirs, their_shape), part in zip(sources, parts, strict=True):
            whole = "" if theirs.startswith(names.head + ".") else names.whole
            arrays[whole + theirs] = np.ascontiguousarray(part).reshape(their_shape)
    return arrays


def _sources(name: str, shape: tuple[int, ...], config: ViTConfig, names: Naming) -> list[tuple[str, tuple]]:
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
        return f"{_BACKBONE}{'stem.' if units else ''}{layer}.{part}"
    return f"{_BACKBONE}stages.{place[0]}.blocks.{place[1]}.{layer}.{part}"


def _resnet(table: NamedArrays) -> dict[str, Any]:
    """The fields of the configuration that describe the ResNet of a hybrid; none for a plain ViT."""
    stem = next((name for name in _STEMS if name in table), None)
    if stem is None:
        return {}
    stage = re.escape(_BACKBONE) + r"stages\."
    stages = table.count(stage + r"(\d+)\.")
    units = tuple(table.count(rf"{stage}{i}\.blocks\.(\d+)\.") for i in range(stages))
    width = table.shape(stem, 4)[0]
    has_stages = stem == _STEMS[0]
    if not all(units) or has_stages != bool(units) or width % TIMM_RESNET["resnet_groups"]:
        raise unknown_resnet(table.source, width, units)
    return TIMM_RESNET | {"resnet": units, "resnet_width": width}


def _to_ours(name: str, array: np.ndarray, shape: tuple[int, ...]) -> np.ndarray:
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


def check_whole_patches(image_size: tuple[int, int] | int, patch_size: int, source: str) -> None:
    """Raise UserError if patches do not divide the images: timm then passes over what is left at the edge."""
    height, width = (image_size, image_size) if isinstance(image_size, int) else image_size
    if height % patch_size or width % patch_size:
        raise UserError(
            f"{source} is for images of {height} x {width} pixels, which patches of {patch_size} x "
            f"{patch_size} do not cover to the edge, but tinyvit uses the whole image. Choose a checkpoint "
            "for images that its patches divide."
        )


def _in_any_block(names: Naming, name: str) -> str:
    """A pattern for an array of that name in any block; its group is the number of the block."""
    return re.escape(names.block).replace(r"\{\}", r"(\d+)") + re.escape(name)


def _usual_heads(width: int, has_token: bool, source: str, described: bool) -> int:
    if has_token and width in _USUAL_HEADS:
        return _USUAL_HEADS[width]
    remedy = "Nor does its config.json: give their number, as heads=... or on the command line as --heads"
    if not described:
        remedy = (
            "Put the config.json that was published with it in the same folder, or give their number, as "
            "heads=... or on the command line as --heads"
        )
    kind = "" if has_token else " where there is no class token"
    raise UserError(f"{source} does not state how many heads share its width of {width}{kind}. {remedy}.")
