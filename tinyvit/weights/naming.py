"""The names that timm, Hugging Face and torchvision give to the arrays of a plain ViT."""

import re
from collections.abc import Collection, Container
from dataclasses import dataclass, replace
from typing import Any

from tinyvit.weights.pixels import CLIP_PIXELS, HALF_PIXELS, IMAGENET_PIXELS, PixelScale

# The ResNet of timm's hybrids. Without stages, it consists of its stem, and that word is omitted.
BACKBONE = "patch_embed.backbone."
STEMS = (f"{BACKBONE}stem.conv.weight", f"{BACKBONE}conv.weight")


@dataclass(frozen=True)
class Naming:
    """How a library names the arrays; {} stands for the number of a block, and qkv lists one or three layers.

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
    patch="patch_embed.proj",
    class_token="cls_token",
    position="pos_embed",
    block="blocks.{}.",
    norm1="norm1",
    qkv=("attn.qkv",),
    out="attn.proj",
    norm2="norm2",
    fc1="mlp.fc1",
    fc2="mlp.fc2",
    norm="norm",
    head="head",
    resize="antialias",
)
HUGGING_FACE = Naming(
    patch="embeddings.patch_embeddings.projection",
    class_token="embeddings.cls_token",
    position="embeddings.position_embeddings",
    block="encoder.layer.{}.",
    norm1="layernorm_before",
    qkv=("attention.attention.query", "attention.attention.key", "attention.attention.value"),
    out="attention.output.dense",
    scale1="layer_scale1.lambda1",
    norm2="layernorm_after",
    fc1="intermediate.dense",
    fc2="output.dense",
    scale2="layer_scale2.lambda1",
    norm="layernorm",
    head="classifier",
    registers="embeddings.register_tokens",
    distillation_token="embeddings.distillation_token",
    head2="distillation_classifier",
    pooled_norm="pooler.layernorm",
    bias_table="attention.attention.relative_position_bias.relative_position_bias_table",
    resize="bicubic",
    whole="vit.",
    eps=1e-12,
)
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
DINOV3 = replace(
    DINOV2,
    patch="embeddings.patch_embeddings",
    block="layer.{}.",
    fc1="mlp.fc1",
    fc2="mlp.fc2",
    norm="norm",
    eps=1e-5,
    **_ATTENTION_5,
)
CLIP = Naming(
    patch="embeddings.patch_embedding",
    class_token="embeddings.class_embedding",
    position="embeddings.position_embedding.weight",
    block="encoder.layers.{}.",
    norm1="layer_norm1",
    qkv=("self_attn.q_proj", "self_attn.k_proj", "self_attn.v_proj"),
    out="self_attn.out_proj",
    norm2="layer_norm2",
    fc1="mlp.fc1",
    fc2="mlp.fc2",
    pre_norm="pre_layrnorm",
    norm="post_layernorm",
    head="visual_projection",
    resize="bicubic",
    pixels=CLIP_PIXELS,
    gelu="quick",
    eps=1e-5,
)
SIGLIP = replace(CLIP, head="classifier", gelu="tanh", eps=1e-6)  # and the classifiers made of CLIP
OPENAI = Naming(
    patch="conv1",
    class_token="class_embedding",
    position="positional_embedding",
    block="transformer.resblocks.{}.",
    norm1="ln_1",
    qkv=("attn.in_proj",),
    out="attn.out_proj",
    norm2="ln_2",
    fc1="mlp.c_fc",
    fc2="mlp.c_proj",
    pre_norm="ln_pre",
    norm="ln_post",
    head="proj",
    resize="bicubic",
    pixels=CLIP_PIXELS,
    gelu="quick",
    eps=1e-5,
)
TORCHVISION = Naming(
    patch="conv_proj",
    class_token="class_token",
    position="encoder.pos_embedding",
    block="encoder.layers.encoder_layer_{}.",
    norm1="ln_1",
    qkv=("self_attention.in_proj",),
    out="self_attention.out_proj",
    norm2="ln_2",
    fc1="mlp.0",
    fc2="mlp.3",
    norm="encoder.ln",
    head="heads.head",
    pre_logits="heads.pre_logits",
    resize="bicubic",
    pixels=IMAGENET_PIXELS,
)
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


def recognise(held: Container[str]) -> Naming | None:
    """The naming that most of these names follow; None if they follow none of them."""

    def followed(names: Naming) -> int:
        layers = (names.norm1, *names.qkv, names.out, names.norm2, names.fc1, names.fc2)
        expected = [names.patch, names.head, *(names.block.format(0) + layer for layer in layers)]
        return sum(f"{name}.weight" in held for name in expected)

    best = max(_ALL, key=followed)
    return best if followed(best) > 1 else None
