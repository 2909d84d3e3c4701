"""The configuration of a checkpoint of timm, Hugging Face or torchvision: what its arrays show of it.

What they do not show comes from the files beside them (see description.py), or is what the library and its
published models take for granted.
"""

import re
from typing import Any

from tinyvit.model.config import READS_TOKEN, resnet_scale
from tinyvit.model.later.rotary import Rotary
from tinyvit.support.errors import UserError
from tinyvit.weights.arrays import NamedArrays, square_image_size, unknown_resnet
from tinyvit.weights.fitting import TIMM_RESNET
from tinyvit.weights.naming import BACKBONE, CLIP, OPENAI, STEMS, TIMM, Naming

_STATE_SIZE = 'put {"image_size": [height, width]} into a config.json beside it'
# Width -> heads of published models: a head is 64 wide, except in the largest (SO400M, H, g, G).
_USUAL_HEADS = {64 * heads: heads for heads in (3, 5, 6, 8, 10, 12, 13, 14, 16)}
_USUAL_HEADS |= dict.fromkeys((1152, 1280, 1408, 1664), 16)


def fields_of(table: NamedArrays, names: Naming, known: dict[str, Any], described: bool) -> dict[str, Any]:
    """The fields of ViTConfig, of which some are known from elsewhere.

    Arrays of the table are renamed where a part has several names, and dropped where it is not used. Raises
    UserError if neither the arrays nor what is known state the number of heads or the size of the images.
    """
    first, resnet = names.block.format(0), _resnet(table)
    D, channels, P, _ = table.shape(f"{names.patch}.weight", 4)
    if resnet:
        channels = table.shape(next(stem for stem in STEMS if stem in table), 4)[1]
    has_token, has_head = names.class_token in table, f"{names.head}.weight" in table
    mlp_width = table.shape(f"{first}{names.fc2}.weight", 2)[1]
    fields: dict[str, Any] = {
        "patch_size": P,
        "width": D,
        "mlp_width": mlp_width,
        "layers": table.count(re.escape(names.block).replace(r"\{\}", r"(\d+)")),
        "classes": table.shape(f"{names.head}.weight", 2)[0] if has_head else 1,
        "gelu": names.gelu,
        "eps": names.eps,
        "channels": channels,
        "pre_norm": f"{names.pre_norm}.weight" in table,
        "patch_bias": f"{names.patch}.bias" in table,
        "head_bias": not has_head or f"{names.head}.bias" in table,
        "qkv_bias": _qkv_bias(table, names, D),
        "qk_norm": f"{first}{names.q_norm}.weight" in table,
        "attention_norm": f"{first}{names.attention_norm}.weight" in table,
        "mlp_norm": f"{first}{names.mlp_norm}.weight" in table,
        "gated": table.shape(f"{first}{names.fc1}.weight", 2)[0] == 2 * mlp_width,
        "layer_scale": 1e-5 if first + names.scale1 in table else 0.0,
        **resnet,
    }
    if (pre_logits := f"{names.pre_logits}.weight") in table:
        fields["pre_logits"] = table.shape(pre_logits, 2)[0]
    if names in (CLIP, OPENAI) and has_head and not fields["head_bias"]:
        fields["predicts"] = "embedding"
    if f"{first}rotary" in table:
        fields["rotary"] = Rotary(learned=True)
    fields |= known
    if "heads" not in known:
        fields["heads"] = _usual_heads(D, has_token, table.source, described)
    fields |= _pooling(table, names, fields)
    if has_token != (fields["pool"] in READS_TOKEN):
        fields["class_token"] = has_token
    return fields | _tokens_and_positions(table, names, fields)


def _qkv_bias(table: NamedArrays, names: Naming, width: int) -> str:
    """Those of queries, keys and values that have a bias, in every block."""
    first = names.block.format(0)
    has = [f"{first}{layer}.bias" in table for layer in names.qkv]
    if len(has) == 1:
        all_three = has[0] and table.shape(f"{first}{names.qkv[0]}.bias", 1) == (3 * width,)
        has = [has[0], all_three, has[0]]
    return "all" if all(has) else "qv" if has[0] and has[2] else "none"


def _pooling(table: NamedArrays, names: Naming, fields: dict[str, Any]) -> dict[str, Any]:
    """The pooling of the tokens, and the place of the last LayerNorm.

    Of a single token, it is the same before and after choosing it.
    """
    head, stated, norm = f"{names.head}.weight", fields.get("pool"), f"{names.norm}.weight"
    reads_token = names.class_token in table and (norm in table or f"{names.pooled_norm}.weight" not in table)
    found = {"pool": stated or ("token" if reads_token else "mean")}
    has_distillation = names is TIMM and names.distillation_token in table
    if head in table and table.shape(head, 2)[1] == 2 * fields["width"]:
        found["pool"] = "both"
    elif f"{names.head2}.weight" in table or (has_distillation and head not in table):
        found["pool"] = "distilled"
    elif stated in (None, "attention") and "attn_pool.latent" in table:
        found = {"pool": "attention"}
        if (width := table.shape("attn_pool.mlp.fc2.weight", 2)[1]) != fields["mlp_width"]:
            found["pool_mlp_width"] = width
    others = names.class_token in table or names.registers in table
    if found["pool"] == "mean" and fields.get("pool_all") and others:
        raise UserError(
            f"{table.source} averages all its tokens, where tinyvit averages the patches: choose another "
            "checkpoint."
        )
    if found["pool"] != "attention":
        table.drop(r"^attn_pool\.")  # a classifier that was added pools without it
        found |= {"pool_heads": 0, "pool_all": False}
    if found["pool"] == "token" and norm not in table and f"{names.pooled_norm}.weight" in table:
        for part in ("weight", "bias"):
            table.rename(f"{names.pooled_norm}.{part}", f"{names.norm}.{part}")
    if fields.get("final_norm") == "none":
        table.drop(rf"^{names.norm}\.")  # of a classifier that does without it
    elif norm not in table:
        found["final_norm"] = "pooled" if f"{names.pooled_norm}.weight" in table else "none"
    return found


def _tokens_and_positions(table: NamedArrays, names: Naming, fields: dict[str, Any]) -> dict[str, Any]:
    """Registers, the size of images, and which tokens have positions."""
    found: dict[str, Any] = {}
    registers = table.shape(names.registers, 3)[1] if names.registers in table else 0
    if fields["pool"] != "distilled" and names.distillation_token in table:
        table.rename(
            names.distillation_token, names.registers
        )  # learned with another head; now it is not read
        registers, found["position_on"] = registers + 1, "all"
    prefix = (names.class_token in table) + registers + (fields["pool"] == "distilled")
    found["registers"] = registers
    if names.position not in table:
        if "image_size" not in fields:
            raise UserError(f"{table.source} does not state the size of its images: {_STATE_SIZE}.")
        has_bias = names.block.format(0) + names.bias_table in table
        size = fields["image_size"]
        if has_bias and names is not TIMM and not isinstance(size, int) and size[0] != size[1]:
            raise UserError(
                f"{table.source} has relative positions for images of {size[0]} x {size[1]} pixels, but "
                "transformers confuses their rows and columns unless images are square: choose another "
                "checkpoint."
            )
        return found | {"position": "bias" if has_bias else "none"}
    pixels = fields["patch_size"] * resnet_scale(fields.get("resnet"))
    is_deit_3 = names is TIMM and bool(fields["layer_scale"])
    size = fields.get("image_size") or square_image_size(
        table, names.position, names.class_token, pixels, is_deit_3, _STATE_SIZE, prefix
    )
    height, width = (size, size) if isinstance(size, int) else size
    without = prefix - (table.shape(names.position, 3)[1] - (height // pixels) * (width // pixels))
    if prefix and "resnet" not in fields and "position_on" not in found:
        found["position_on"] = "patches" if without == prefix else "all" if registers > without else "class"
    return found | {"image_size": size}


def _resnet(table: NamedArrays) -> dict[str, Any]:
    """The fields of the configuration that describe the ResNet of a hybrid; none for a plain ViT."""
    stem = next((name for name in STEMS if name in table), None)
    if stem is None:
        return {}
    stage = re.escape(BACKBONE) + r"stages\."
    stages = table.count(stage + r"(\d+)\.")
    units = tuple(table.count(rf"{stage}{i}\.blocks\.(\d+)\.") for i in range(stages))
    width = table.shape(stem, 4)[0]
    has_stages = stem == STEMS[0]
    if not all(units) or has_stages != bool(units) or width % TIMM_RESNET["resnet_groups"]:
        raise unknown_resnet(table.source, width, units)
    return TIMM_RESNET | {"resnet": units, "resnet_width": width}


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
