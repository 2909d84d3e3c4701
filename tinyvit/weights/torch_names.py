"""Reading checkpoints of timm, Hugging Face and torchvision, and writing the first two; see naming.py.

PyTorch stores a linear layer output-by-input and a patch embedding as a convolution; tinyvit's are
input-by-output:

    linear      weight (O, I)                                 ours: (I, O)
    patch       weight (D, 3, P, P)                           ours: (P P 3, D)
    q, k, v     one layer (3D, D), or three (D, D)            ours: (D, 3D)
    convolution weight (O, I, k, k)                           ours: (k, k, I, O), in the ResNet of a hybrid

LayerScale (a learned factor for each column of a branch's output) is multiplied into the preceding matrix and
bias: (x W + b) * gamma = x (W * gamma) + b * gamma, which is the same function.
"""

import re
from collections.abc import Collection
from math import prod
from typing import Any

import numpy as np

from tinyvit.errors import UserError
from tinyvit.model import Params, ViTConfig
from tinyvit.model.config import resnet_scale
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
    TIMM_RESNET,
    check_others_have_it,
    fits_hugging_face,
    fits_timm,
    misfits_of_hybrid,
    torch_naming,
    write_instead,
)
from tinyvit.weights.naming import HUGGING_FACE, TIMM, Naming, recognise
from tinyvit.weights.resize import with_one_table

_PREFIXES = ("module.", "model.", "backbone.", "timm_model.", "vit.", "deit.", "dinov2.", "ijepa.")
# torchvision's other spellings, and the ones in its naming.
_RENAMED = {
    r"self_attention\.in_proj_(weight|bias)$": r"self_attention.in_proj.\1",
    r"^(encoder\.layers\.\w+\.mlp)\.linear_1\.": r"\1.0.",
    r"^(encoder\.layers\.\w+\.mlp)\.linear_2\.": r"\1.3.",
}
# Hugging Face's classifier reads the class token itself, not the pooler; masks and decoders are used for
# self-supervised learning.
_UNUSED = r"(^|\.)mask_token$|^pooler\.dense\.|^decoder[._]"
_RESNET_PART = r"((stem|stages\.\d+\.blocks\.\d+)\.)?(downsample\.)?(conv|norm)[123]?"  # as timm names it
_FOREIGN = {
    rf"(^|\.)patch_embed(dings)?\.backbone\.(?!{_RESNET_PART}\.\w+$)": (
        "belongs to a convolutional network before the ViT that is not the paper's ResNet"
    ),
    r"^norm_pre\.|(^|\.)pre_layr?norm\.": "normalises the tokens before the first block, as CLIP does",
    r"(^|\.)dist(illation)?_token$": "is a second token, for distillation",
    r"^(head_dist|distillation_classifier)\.": "is a second head, for distillation",
    r"(^|\.)reg(ister)?_tokens?$": "holds register tokens",
    r"^fc_norm\.": "normalises after averaging, whereas tinyvit normalises before",
    r"^attn_pool\.": "pools by attention",
    r"\.mlp\.(w12|weights_in|fc1_g)\.": "belongs to a gated MLP (SwiGLU)",
    r"\.[qk]_norm\.": "normalises queries and keys",
    r"relative_position|rel_pos|relpos": "belongs to relative positions",
}
# The ResNet of timm's hybrids. Without stages, it consists of its stem, and that word is omitted.
_BACKBONE = "patch_embed.backbone."
_STEMS = (f"{_BACKBONE}stem.conv.weight", f"{_BACKBONE}conv.weight")
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

    source names the file in messages. known holds what is known from elsewhere: any of heads, eps, gelu,
    image_size, pool; described says whether a config.json was read for it. By default, the number of heads is
    that of the published model of the same width, epsilon and GELU are the library's, and images are square.
    A file without a head gets one class with zero weights. Arrays not needed for classification (mask tokens,
    decoders, Hugging Face's pooler) are ignored; queries, keys or values without a bias in all blocks get a
    bias of zeros. Raises UserError if arrays are missing, have the wrong shape, or are left over.
    """
    known = dict(known or {})
    usual = renamed([(usual_name(name), array) for name, array in arrays.items()], source)
    if known.get("pool") == "token" and not any(name.startswith("norm.") for name in usual):
        # for a single token, normalising before selecting it is the same as normalising after
        usual = renamed([(re.sub(r"^fc_norm\.", "norm.", name), usual[name]) for name in usual], source)
    table = NamedArrays(usual, source)
    table.drop(_UNUSED)
    table.refuse(_FOREIGN)
    names = naming_of(usual, source)
    has_token = names.class_token in table
    if has_token and known.pop("pool", "token") == "mean":
        table.refuse({f"^{names.class_token}$": "is present, yet the mean of the patch tokens is classified"})
    D, channels, P, _ = table.shape(f"{names.patch}.weight", 4)
    resnet = _resnet(table)
    if resnet:
        channels = table.shape(_resnet_source("resnet.root.conv.weight", resnet["resnet"]), 4)[1]
    pixels = P * resnet_scale(resnet.get("resnet"))
    has_head = f"{names.head}.weight" in table
    if has_head and table.shape(f"{names.head}.weight", 2)[1] == 2 * D:
        table.refuse(
            {
                rf"^{names.head}\.weight$": "reads both the class token and the mean of the patch tokens, "
                "like DINOv2's classifier, whereas tinyvit's reads only one of them"
            }
        )
    pre_logits = f"{names.pre_logits}.weight"
    is_deit_3 = names is TIMM and names.block.format(0) + names.scale1 in table
    inferred = {
        "image_size": known.get("image_size")
        or square_image_size(table, names.position, names.class_token, pixels, is_deit_3, _STATE_SIZE),
        "patch_size": P,
        "width": D,
        "mlp_width": table.shape(f"{names.block.format(0)}{names.fc1}.weight", 2)[0],
        "heads": known["heads"] if "heads" in known else _usual_heads(D, source, has_token, described),
        "layers": table.count(_in_any_block(names, "")),
        "classes": table.shape(f"{names.head}.weight", 2)[0] if has_head else 1,
        "pool": "token" if has_token else "mean",
        "pre_logits": table.shape(pre_logits, 2)[0] if pre_logits in table else 0,
        "gelu": names.gelu,
        "eps": names.eps,
        "channels": channels,
        **resnet,
    }
    if not resnet:
        check_whole_patches(inferred["image_size"], P, source)
    config = described_config(source, inferred | known)
    params = empty_params(table, config, dtype)
    _supply_missing_biases(table, names, config)
    for name, shape in params.shapes.items():
        if name == "position":
            params[name] = take_positions(table, names.position, config)
        elif has_head or not name.startswith("head."):
            parts = [table.take(theirs, s) for theirs, s in _sources(name, shape, config, names)]
            params[name] = _to_ours(name, np.concatenate(parts), shape)
    for i in range(config.layers):
        for scale, layer in ((names.scale1, "attn.out"), (names.scale2, "mlp.fc2")):
            if (scale := names.block.format(i) + scale) in table:
                gamma = table.take(scale, (D,)).astype(dtype)
                for part in ("weight", "bias"):
                    params[f"blocks.{i}.{layer}.{part}"] *= gamma
    table.finish()
    return config, params


def naming_of(names: Collection[str], source: str) -> Naming:
    """The naming that these names follow. Raises UserError if they are not from a known library."""
    names = {usual_name(name) for name in names}
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
        raise UserError(
            f"a folder for timm cannot hold eps {config.eps:g}, pre_logits {config.pre_logits} and "
            f"resnet {config.resnet}, only with 1e-06, 0 and None. Instead, {write_instead(config)}"
        )
    return _named(config, params, TIMM)


def _named(config: ViTConfig, params: Params, names: Naming) -> dict[str, np.ndarray]:
    config, params = with_one_table(config, params)
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
    if name in ("class_token", "position"):
        return [(getattr(names, name), (1, prod(shape) // D, D))]
    if name == "patch.weight":
        return [(f"{names.patch}.weight", (D, config.feature_map[2], P, P))]
    if name.startswith("resnet."):
        theirs = shape if len(shape) == 1 else (shape[3], shape[2], *shape[:2])
        return [(_resnet_source(name, config.resnet or ()), theirs)]
    *block, layer, part = name.split(".")  # blocks.3.attn.qkv.weight, head.bias
    prefix = names.block.format(block[1]) if block else ""
    theirs = getattr(names, layer)
    layers = theirs if layer == "qkv" else (theirs,)
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


def _supply_missing_biases(table: NamedArrays, names: Naming, config: ViTConfig) -> None:
    """Add zeros for the biases of queries, keys or values if no block has them: the model then uses none."""
    for layer in names.qkv:
        if not table.count(_in_any_block(names, f"{layer}.bias")):
            for i in range(config.layers):
                zeros = np.zeros(3 * config.width // len(names.qkv), "float32")
                table.supply(f"{names.block.format(i)}{layer}.bias", zeros)


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


def _usual_heads(width: int, source: str, has_token: bool, described: bool) -> int:
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
