"""The names that timm, Hugging Face and torchvision give to the arrays of a ViT, in one spelling.

Libraries, and versions of one library, have several spellings. Layers that stand side by side in tinyvit are
joined, and others cut:

    q, k and v; gate and rest of a gated MLP            become one layer, in this order
    query, key and value of an attention pooling        become q, and kv
    learned frequencies of all blocks, (2, L, H, K/2)   become those of each block
    vectors, and tables without an axis for images      get that axis, (1, 1, D) and (1, N, D)

A layer without a bias, as that of keys sometimes is, is joined without it: then queries and values have one.
"""

import re
from collections.abc import Collection, Iterable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from tinyvit.support.errors import UserError
from tinyvit.weights.equivalent import CLIP_PIXELS, HALF_PIXELS, IMAGENET_PIXELS, PixelScale

# The ResNet of timm's hybrids. Without stages, it consists of its stem, and that word is omitted.
BACKBONE = "patch_embed.backbone."
STEMS = (f"{BACKBONE}stem.conv.weight", f"{BACKBONE}conv.weight")


@dataclass(frozen=True)
class Naming:
    """A library's names of arrays; {} stands for the number of a block, and qkv lists one or three layers.

    resize is how the library resizes position embeddings for images of another size (see ops.resize). pixels
    is the scale of pixels that all models with these names expect, if they agree on one.
    """

    patch: str
    class_token: str
    position: str
    block: str
    norm1: str
    qkv: tuple[str, ...]
    out: str
    norm2: str
    fc1: str
    fc2: str
    norm: str
    head: str
    resize: str
    scale1: str = "ls1.gamma"
    scale2: str = "ls2.gamma"
    registers: str = "reg_token"
    distillation_token: str = "dist_token"
    pre_norm: str = "norm_pre"
    pooled_norm: str = "fc_norm"
    head2: str = "head_dist"
    q_norm: str = "attn.q_norm"
    k_norm: str = "attn.k_norm"
    attention_norm: str = "attn.norm"
    mlp_norm: str = "mlp.norm"
    bias_table: str = "attn.relative_position_bias_table"
    pre_logits: str = "pre_logits.fc"  # in timm's older files
    pixels: PixelScale | None = None
    whole: str = ""  # prefix of all names but the head's when written
    gelu: str = "exact"
    eps: float = 1e-6


TIMM = Naming(
    patch="patch_embed.proj", class_token="cls_token", position="pos_embed",
    block="blocks.{}.", norm1="norm1", qkv=("attn.qkv",), out="attn.proj",
    norm2="norm2", fc1="mlp.fc1", fc2="mlp.fc2", norm="norm", head="head", resize="antialias",
)  # fmt: skip
HUGGING_FACE = Naming(
    whole="vit.", patch="embeddings.patch_embeddings.projection", class_token="embeddings.cls_token",
    position="embeddings.position_embeddings", registers="embeddings.register_tokens",
    distillation_token="embeddings.distillation_token", block="encoder.layer.{}.", norm1="layernorm_before",
    qkv=("attention.attention.query", "attention.attention.key", "attention.attention.value"),
    bias_table="attention.attention.relative_position_bias.relative_position_bias_table",
    out="attention.output.dense", scale1="layer_scale1.lambda1",
    norm2="layernorm_after", fc1="intermediate.dense", fc2="output.dense", scale2="layer_scale2.lambda1",
    norm="layernorm", pooled_norm="pooler.layernorm", head="classifier", head2="distillation_classifier",
    resize="bicubic", eps=1e-12,
)  # fmt: skip
DINOV2 = replace(
    HUGGING_FACE, norm1="norm1", norm2="norm2", fc1="mlp.fc1", fc2="mlp.fc2", eps=1e-6, pixels=IMAGENET_PIXELS
)
# The names of transformers 5 in memory, which files saved with tools other than its own have.
_ATTENTION_5: dict[str, Any] = {
    "qkv": ("attention.q_proj", "attention.k_proj", "attention.v_proj"),
    "out": "attention.o_proj",
}
HUGGING_FACE_5 = replace(HUGGING_FACE, block="layers.{}.", fc1="mlp.fc1", fc2="mlp.fc2", **_ATTENTION_5)
DINOV2_5 = replace(DINOV2, **_ATTENTION_5)
DINOV3 = replace(DINOV2_5, patch="embeddings.patch_embeddings", block="layer.{}.", norm="norm", eps=1e-5)
CLIP = Naming(
    patch="embeddings.patch_embedding", class_token="embeddings.class_embedding",
    position="embeddings.position_embedding.weight", pre_norm="pre_layrnorm", block="encoder.layers.{}.",
    norm1="layer_norm1", qkv=("self_attn.q_proj", "self_attn.k_proj", "self_attn.v_proj"),
    out="self_attn.out_proj", norm2="layer_norm2", fc1="mlp.fc1", fc2="mlp.fc2",
    norm="post_layernorm", head="visual_projection",
    resize="bicubic", pixels=CLIP_PIXELS, gelu="quick", eps=1e-5,
)  # fmt: skip
SIGLIP = replace(CLIP, head="classifier", gelu="tanh", eps=1e-6)  # and the classifiers made of CLIP
OPENAI = Naming(
    patch="conv1", class_token="class_embedding", position="positional_embedding", pre_norm="ln_pre",
    block="transformer.resblocks.{}.", norm1="ln_1", qkv=("attn.in_proj",), out="attn.out_proj",
    norm2="ln_2", fc1="mlp.c_fc", fc2="mlp.c_proj", norm="ln_post", head="proj",
    resize="bicubic", pixels=CLIP_PIXELS, gelu="quick", eps=1e-5,
)  # fmt: skip
TORCHVISION = Naming(
    patch="conv_proj", class_token="class_token", position="encoder.pos_embedding",
    block="encoder.layers.encoder_layer_{}.", norm1="ln_1", qkv=("self_attention.in_proj",),
    out="self_attention.out_proj", norm2="ln_2", fc1="mlp.0", fc2="mlp.3",
    norm="encoder.ln", head="heads.head", pre_logits="heads.pre_logits",
    resize="bicubic", pixels=IMAGENET_PIXELS,
)  # fmt: skip
_ALL = (TIMM, HUGGING_FACE, DINOV2, HUGGING_FACE_5, DINOV2_5, DINOV3, CLIP, SIGLIP, OPENAI, TORCHVISION)


# Arrays that only models have that were trained on ImageNet's scale, or on -1 to 1.
_TELLING = {
    r"\.ls1\.gamma$|(^|\.)dist(illation)?_token$|^decoder[._]": IMAGENET_PIXELS,  # DINOv2, DeiT, MAE
    r"\.relative_position_bias_table$": HALF_PIXELS,  # BEiT
}


def usual_pixels(names: Naming, held: Collection[str]) -> PixelScale | None:
    """The scale of pixels on which models with these arrays are trained; None if not always the same."""
    if names in (CLIP, SIGLIP):
        return CLIP_PIXELS if names.class_token in held else HALF_PIXELS
    telling = (s for pattern, s in _TELLING.items() if any(re.search(pattern, name) for name in held))
    return names.pixels or next(telling, None)


def naming_of(names: Collection[str], source: str) -> Naming:
    """The naming that most of these names follow, in any spelling. UserError if they follow none of them."""
    held = set(usual_names(names).values())

    def followed(names: Naming) -> int:
        layers = (names.norm1, *names.qkv, names.out, names.norm2, names.fc1, names.fc2)
        expected = [names.patch, names.head, *(names.block.format(0) + layer for layer in layers)]
        return sum(f"{name}.weight" in held for name in expected)

    best = max(_ALL, key=followed)
    if followed(best) < 2:
        raise UserError(
            f"{source} is not a ViT that tinyvit knows: expected arrays named as in the official .npz files, "
            "or as timm, Hugging Face or torchvision name them."
        )
    return best


Arrays = dict[str, np.ndarray]

# Layers that are joined, and what they become.
_JOINED = {
    (".attn.q_proj", ".attn.k_proj", ".attn.v_proj"): ".attn.qkv",
    (".mlp.fc1_g", ".mlp.fc1_x"): ".mlp.fc1",
    (".mlp.gate_proj", ".mlp.up_proj"): ".mlp.fc1",
    (".mlp.w1", ".mlp.w2"): ".mlp.fc1",
}
# Prefixes for a whole model, in the order in which they are removed; and for the image side of a model for
# images and texts, with those of what else belongs to that side.
_PREFIXES: tuple[str, ...] = ("module.", "model.", "backbone.", "timm_model.")
_PREFIXES += ("vit.", "deit.", "ijepa.", "beit.", "data2vec_vision.", "dinov2.", "dinov2_with_registers.")
_IMAGE_SIDES = (("vision_model.", ("visual_projection.", "classifier.")), ("visual.", ()))
_RENAMED = {
    # torchvision's older and newer layers
    r"self_attention\.in_proj_(weight|bias)$": r"self_attention.in_proj.\1",
    r"^(encoder\.layers\.\w+\.mlp)\.linear_1\.": r"\1.0.",
    r"^(encoder\.layers\.\w+\.mlp)\.linear_2\.": r"\1.3.",
    # Hugging Face's attention pooling, and the one of Perception Encoder's own files
    r"^head\.probe$": "attn_pool.latent",
    r"^head\.attention\.(in_proj_|out_proj\.)": r"attn_pool.\1",
    r"^head\.layernorm\.": "attn_pool.norm.",
    r"^head\.mlp\.": "attn_pool.mlp.",
    r"^attn_pool\.probe$": "attn_pool.latent",
    r"^attn_pool\.attn\.(in_proj_|out_proj\.)": r"attn_pool.\1",
    r"^attn_pool\.layernorm\.": "attn_pool.norm.",
    r"^attn_pool\.out_proj\.": "attn_pool.proj.",
    # gated MLPs, which have the gate and the rest in one layer
    r"\.mlp\.weights_in\.": ".mlp.fc1.",
    r"\.mlp\.weights_out\.": ".mlp.fc2.",
    r"\.mlp\.w12\.": ".mlp.fc1.",
    r"\.mlp\.w3\.": ".mlp.fc2.",
    r"\.mlp\.ffn_ln\.": ".mlp.norm.",
    r"\.mlp\.down_proj\.": ".mlp.fc2.",
    # the rest of timm's Eva, of DINOv2 and of DeiT
    r"\.gamma_([12])$": r".ls\1.gamma",
    r"^((?:encoder\.layer|layers)\.\d+)\.lambda_([12])$": r"\1.layer_scale\2.lambda1",
    r"^(register|storage)_tokens$": "reg_token",
    r"^cls_classifier\.": "classifier.",
}


def usual_names(names: Iterable[str]) -> dict[str, str]:
    """Names of arrays, and their one spelling, without the prefix for the whole model.

    Of a model for images and texts, only those of the image side.
    """
    usual = {name: name for name in names}
    for prefix in _PREFIXES:
        usual = {name: better.removeprefix(prefix) for name, better in usual.items()}
    for side, shared in _IMAGE_SIDES:
        if any(better.startswith(side) for better in usual.values()):
            prefixes = (side, *shared)
            usual = {
                name: better.removeprefix(side)
                for name, better in usual.items()
                if better.startswith(prefixes)
            }
            break
    for pattern, spelling in _RENAMED.items():
        usual = {name: re.sub(pattern, spelling, better) for name, better in usual.items()}
    return usual


def in_one_spelling(arrays: Arrays) -> Arrays:
    """Arrays by their usual names, joined and cut as above."""
    arrays = _cut(arrays)
    for parts, whole in _JOINED.items():
        _join(arrays, parts, whole)
    for first in [name for name in arrays if name.endswith("attn.q_bias")]:  # of timm's Eva and Beit, which
        prefix = first.removesuffix("q_bias")  # have the biases of queries and values apart from their matrix
        found = [arrays.pop(name) for name in (first, f"{prefix}v_bias") if name in arrays]
        arrays[f"{prefix}qkv.bias"] = np.concatenate(found)
    return {name.replace(".mlp.up_proj.", ".mlp.fc1."): array for name, array in arrays.items()}


def _join(arrays: Arrays, parts: tuple[str, ...], whole: str) -> None:
    """Join layers that exist as parts, in every block."""
    for first in [name for name in arrays if name.endswith(f"{parts[0]}.weight")]:
        prefix = first.removesuffix(f"{parts[0]}.weight")
        for kind in ("weight", "bias"):
            names = [f"{prefix}{part}.{kind}" for part in parts]
            pieces = [arrays.pop(name) for name in names if name in arrays]
            if pieces:
                arrays[f"{prefix}{whole}.{kind}"] = np.concatenate(pieces)


def _cut(arrays: Arrays) -> Arrays:
    """Cut what several layers, or all blocks, have in one array; give vectors and tables their first axes."""
    cut: Arrays = {}
    for name, array in arrays.items():
        if match := re.match(r"attn_pool\.in_proj_(weight|bias)$", name):
            D = len(array) // 3
            cut |= {f"attn_pool.q.{match[1]}": array[:D], f"attn_pool.kv.{match[1]}": array[D:]}
        elif name == "rope.freqs" and array.ndim == 4:
            cut |= {f"blocks.{i}.rotary": array[:, i] for i in range(array.shape[1])}
        elif name == "proj" and array.ndim == 2:  # OpenAI's projection, stored input-by-output
            cut["proj.weight"] = array.T
        elif name.endswith(("class_embedding", "position_embedding.weight", "positional_embedding")):
            cut[name] = array.reshape(1, -1, array.shape[-1])
        else:
            cut[name] = array
    return cut
