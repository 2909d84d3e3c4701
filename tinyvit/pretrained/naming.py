"""The names that timm's and Hugging Face's PyTorch models give to the arrays of a plain ViT."""

from __future__ import annotations

from dataclasses import dataclass, replace


@dataclass(frozen=True)
class Naming:
    """How a library calls the arrays; {} stands for the number of a block, qkv lists one or three layers."""

    patch: str
    class_token: str
    position: str
    block: str
    norm1: str
    qkv: tuple[str, ...]
    out: str
    scale1: str
    norm2: str
    fc1: str
    fc2: str
    scale2: str
    norm: str
    head: str
    pre_logits: str = "pre_logits.fc"  # timm's, in its older files
    whole: str = ""  # stands before all names but the head's when written
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
    scale1="ls1.gamma",
    norm2="norm2",
    fc1="mlp.fc1",
    fc2="mlp.fc2",
    scale2="ls2.gamma",
    norm="norm",
    head="head",
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
    whole="vit.",
    eps=1e-12,
)
DINOV2 = replace(HUGGING_FACE, norm1="norm1", norm2="norm2", fc1="mlp.fc1", fc2="mlp.fc2", eps=1e-6)
