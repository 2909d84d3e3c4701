"""The config.json that timm and Hugging Face publish with their weights: what the arrays do not show.

The shapes of the arrays do not reveal the number of heads, the epsilon of LayerNorm, the form of GELU, the
sides of an image that is not square, or which tokens are pooled. Nor do they contain the class names.
"""

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

from tinyvit.model.later.rotary import DINOV3
from tinyvit.support.errors import UserError, class_name
from tinyvit.support.files import read_json
from tinyvit.weights.architectures import described_architecture

# The names of the two forms in Hugging Face (hidden_act) and timm (act_layer).
GELU = {"gelu": "exact", "gelu_python": "exact"} | dict.fromkeys(
    ("gelu_new", "gelu_pytorch_tanh", "gelu_fast", "gelu_accurate", "gelu_tanh"), "tanh"
)
GELU |= {"quick_gelu": "quick", "quickgelu": "quick", "silu": "silu", "swish": "silu", "relu": "relu"}
TIMM_POOLS = {"token": "token", "avg": "mean", "map": "attention"}
# Hugging Face's types of ViT that tinyvit can compute, and their defaults for what config.json omits.
_HUGGING_FACE: dict[str, dict[str, Any]] = {
    kind: {"heads": 12, "eps": eps, "gelu": "exact"}
    for kind, eps in (
        ("vit", 1e-12), ("deit", 1e-12), ("vit_mae", 1e-12), ("ijepa", 1e-12), ("vit_msn", 1e-6),
        ("dinov2", 1e-6), ("dinov2_with_registers", 1e-6),
    )
}  # fmt: skip
_HUGGING_FACE |= {
    "dinov3_vit": {"heads": 6, "eps": 1e-5, "gelu": "exact", "rotary": DINOV3, "image_size": (224, 224)},
    "clip_vision_model": {"heads": 12, "eps": 1e-5, "gelu": "quick", "image_size": (224, 224)},
    "siglip_vision_model": {"heads": 12, "eps": 1e-6, "gelu": "tanh", "image_size": (224, 224)},
}
_HUGGING_FACE |= {
    kind: {"heads": 12, "eps": 1e-12, "gelu": "exact", "pool": "mean", "image_size": (224, 224)}
    for kind in ("beit", "data2vec-vision")
}
# Models for images and texts: the image side is described apart.
_TOWERS = {"clip": "clip_vision_model", "siglip": "siglip_vision_model"}
# How Hugging Face's classifiers pool, where that is not as the model without a classifier does.
_CLASSIFIERS: dict[str, dict[str, Any]] = {
    "CLIPForImageClassification": {"pool": "mean", "final_norm": "none"},
    "SiglipForImageClassification": {"pool": "mean"},
}
# Arguments of timm's that are evident from the arrays, or that change nothing once a model is trained.
_VISIBLE = frozenset(
    (
        "img_size", "patch_size", "in_chans", "num_classes", "embed_dim", "depth", "mlp_ratio", "qkv_bias",
        "proj_bias", "qk_norm", "class_token", "pos_embed", "no_embed_class", "reg_tokens", "pre_norm",
        "final_norm", "fc_norm", "use_fc_norm", "init_values", "scale_attn_norm", "scale_mlp_norm",
        "num_reg_tokens", "use_abs_pos_emb", "use_rel_pos_bias", "use_pre_transformer_norm",
        "use_post_transformer_norm", "qkv_fused", "scale_mlp", "scale_attn_inner",
        "dynamic_img_size", "strict_img_size", "weight_init",
        "fix_init", "drop_rate", "pos_drop_rate", "patch_drop_rate", "proj_drop_rate", "attn_drop_rate",
        "drop_path_rate",
    )
)  # fmt: skip
_READ = frozenset(("num_heads", "act_layer", "global_pool", "attn_pool_num_heads", "pool_include_prefix"))
# The exceptions that reading a malformed file may raise.
UNREADABLE = (OSError, ValueError, TypeError, AttributeError, LookupError, ArithmeticError)


def read_description(path: Path) -> dict[str, Any]:
    """The fields of a ViTConfig (layers, heads, eps, gelu, image_size, pool) that a config.json determines.

    Empty if there is no such file. Values that the file omits are filled in with the defaults of the library
    that wrote it. Raises UserError if it is unreadable, or describes a model that tinyvit cannot compute.
    """
    if not path.is_file():
        return {}
    try:
        stated = read_json(path)
        return _timm(path, stated) if "architecture" in stated else _hugging_face(path, stated)
    except UserError:  # which says what is wrong with the model, and is one of the errors below
        raise
    except UNREADABLE as error:
        raise UserError(
            f"{path} does not describe a model ({error}): correct it, or move it elsewhere to do without it."
        ) from error


def read_class_names(path: Path, count: int) -> tuple[str, ...] | None:
    """The names of `count` classes in the config.json of timm, Hugging Face or a run; None if it has none."""
    try:
        stated = read_json(path)
        names = stated.get("classes") or stated.get("label_names") or stated["id2label"]
        if len(names) != count:
            return None
        return tuple(class_name(str(names[str(c) if isinstance(names, dict) else c])) for c in range(count))
    except UNREADABLE:
        return None


def imagenet_classes() -> tuple[str, ...]:
    """The 1000 classes of ImageNet (ILSVRC 2012), in the order of the logits of published heads.

    From 'tench, Tinca tinca' to 'toilet tissue, toilet paper, bathroom tissue': the words of each class's
    synset in WordNet 3.0 (Princeton University), most common first.
    """
    return tuple((Path(__file__).parent / "imagenet_classes.txt").read_text("utf-8").splitlines())


def has_words(folder: Path) -> bool:
    """True if a folder's config.json describes a model for images and texts."""
    return stated_in(folder / "config.json").get("model_type") in tuple(_TOWERS)


def is_described_by_timm(path: Path) -> bool:
    """True if this is a config.json written by timm."""
    return "architecture" in stated_in(path)


def stated_in(path: Path) -> dict[str, Any]:
    """The contents of a JSON file; empty if it is missing, or is not an object that can be read."""
    try:
        return dict(read_json(path))
    except UNREADABLE:
        return {}


def _hugging_face(path: Path, stated: dict[str, Any]) -> dict[str, Any]:
    kind, classifier = stated.get("model_type"), (stated.get("architectures") or [""])[0]
    if (problem := stated.get("problem_type")) not in (None, "single_label_classification"):
        raise UserError(
            f"{path} states the problem_type {problem!r}, but tinyvit's classes exclude each other: choose "
            "another checkpoint; or, to use its features or give it a new head, remove problem_type from the "
            "file."
        )
    if kind in _TOWERS:
        kind, stated = _TOWERS[kind], stated.get("vision_config_dict") or stated.get("vision_config") or {}
    if kind is not None and kind not in _HUGGING_FACE:
        raise UserError(
            f"{path} describes a model of type {kind!r}, which tinyvit does not support; it supports "
            f"{', '.join((*_HUGGING_FACE, *_TOWERS))}. Choose another checkpoint."
        )
    fields = _HUGGING_FACE.get(kind or "", {}) | _CLASSIFIERS.get(classifier, {})
    fields |= _where_stated(
        layers=(stated.get("num_hidden_layers"), int),
        heads=(stated.get("num_attention_heads"), int),
        eps=(stated.get("layer_norm_eps"), float),
        gelu=(stated.get("hidden_act"), partial(_one_of, GELU, path, "nonlinearity")),
        image_size=(stated.get("image_size"), height_and_width),
    )
    if stated.get("use_mean_pooling") is False:
        fields["pool"] = "token"
    if stated.get("use_swiglu_ffn"):  # DINOv2's, which has no other nonlinearity
        fields["gelu"] = "silu"
    if "rotary" in fields:
        fields["rotary"] = replace(fields["rotary"], theta=float(stated.get("rope_theta", 100.0)))
    return fields


def _timm(path: Path, stated: dict[str, Any]) -> dict[str, Any]:
    name, arguments = stated["architecture"], stated.get("model_args") or {}
    try:
        meant = described_architecture(name)
    except ValueError as error:
        raise UserError(f"{path} names timm's architecture {name!r}, {error}.") from None
    for argument, value in arguments.items():  # others change the computation in an unknown way
        plain = value is None or (argument, value) in (
            ("norm_layer", "layernorm"),
            ("dynamic_img_pad", False),
        )
        if not plain and argument not in _VISIBLE | _READ:
            raise UserError(
                f"{path} specifies {argument} {value!r}, which tinyvit does not support: choose another "
                "checkpoint."
            )
    input_size = (stated.get("pretrained_cfg") or {}).get("input_size")  # (3, H, W)
    size = arguments.get("img_size") or (input_size[1:] if input_size else None)
    pool = arguments.get("global_pool", stated.get("global_pool"))
    if pool == "" and not stated.get("num_classes"):  # a model without classes need not pool anything
        pool = None
    fields = meant | _where_stated(
        layers=(arguments.get("depth"), int),
        heads=(arguments.get("num_heads"), int),
        eps=(arguments.get("norm_layer"), lambda _: 1e-6),  # "layernorm", whose epsilon is timm's own
        pool_heads=(arguments.get("attn_pool_num_heads"), int),
        pool_all=(arguments.get("pool_include_prefix"), bool),
        gelu=(arguments.get("act_layer"), partial(_one_of, GELU, path, "nonlinearity")),
        image_size=(size, height_and_width),
        pool=(pool, partial(_one_of, TIMM_POOLS, path, "pooling")),
    )
    if "rotary" in fields or name.startswith("eva_giant"):  # timm's class Eva: "map" reads all tokens
        fields["pool_all"] = fields.get("pool", "attention") == "attention"
        if pool == "map" and fields["gelu"] != "exact":
            raise UserError(
                f"{path} describes attention pooling whose MLP has another nonlinearity than the blocks': "
                "choose another checkpoint."
            )
    return fields


def _one_of(choices: dict[str, str], path: Path, what: str, name: str) -> str:
    """The meaning of a name in a config.json. Raises UserError if it is not one of the choices."""
    if name not in choices:
        raise UserError(
            f"{path} specifies the {what} {name!r}, but tinyvit has only {', '.join(choices)}: choose "
            "another checkpoint."
        )
    return choices[name]


def _where_stated(**fields: tuple[Any, Callable]) -> dict[str, Any]:
    """The fields that have a value, each converted by its function."""
    return {name: convert(value) for name, (value, convert) in fields.items() if value is not None}


def height_and_width(stated: int | list[int]) -> tuple[int, int]:
    """(height, width), stated as one number or as two."""
    height, width = (stated, stated) if isinstance(stated, int) else stated
    return int(height), int(width)
