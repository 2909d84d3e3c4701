"""Checkpoints of timm and of Hugging Face: the names their PyTorch models give to the arrays of a plain ViT.

PyTorch stores a linear layer output-by-input and a patch embedding as a convolution (D, 3, P, P); both are
transposed here to tinyvit's input-by-output. LayerScale (a learned factor for each column of what a branch
adds) is multiplied into the matrix and bias before it, which is the same function exactly.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from tinyvit.errors import UserError
from tinyvit.model import Params, ViTConfig, parameter_shapes
from tinyvit.pretrained.arrays import NamedArrays


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
    norm: tuple[str, ...]  # the first that is there
    head: str
    unused: str  # pattern of arrays that a plain ViT does not use in classifying
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
    norm=("norm", "fc_norm"),
    head="head",
    unused=r"mask_token$",
)
_QKV = ("attention.attention.query", "attention.attention.key", "attention.attention.value")
HUGGING_FACE = Naming(
    patch="embeddings.patch_embeddings.projection",
    class_token="embeddings.cls_token",
    position="embeddings.position_embeddings",
    block="encoder.layer.{}.",
    norm1="layernorm_before",
    qkv=_QKV,
    out="attention.output.dense",
    scale1="layer_scale1.lambda1",
    norm2="layernorm_after",
    fc1="intermediate.dense",
    fc2="output.dense",
    scale2="layer_scale2.lambda1",
    norm=("layernorm",),
    head="classifier",
    unused=r"embeddings\.mask_token$|pooler\.dense\.",
    eps=1e-12,
)
DINOV2 = Naming(
    **(
        vars(HUGGING_FACE)
        | {"norm1": "norm1", "norm2": "norm2", "fc1": "mlp.fc1", "fc2": "mlp.fc2", "eps": 1e-6}
    )
)
_PREFIXES = ("vit.", "deit.", "dinov2.", "model.", "backbone.")


def from_torch_names(
    arrays: dict[str, np.ndarray], source: str, heads: int | None = None
) -> tuple[ViTConfig, Params]:
    """Model and parameters (float32) of a timm or Hugging Face checkpoint; source names the file in messages.

    The file does not say how many heads there are: heads, or else one for every 64 columns as in all of the
    paper's models (but 3 for width 192, ... alike). A file without a head gets one class with zero weights.
    Raises UserError if arrays are missing, misshapen, or left over.
    """
    table = NamedArrays(_without_prefix(arrays), source)
    names = _naming(table, source)
    weight = table.shape(f"{names.patch}.weight")
    D, channels, P, _ = weight
    has_token = names.class_token in table
    _, N, _ = table.shape(names.position)
    side = round((N - has_token) ** 0.5)
    has_head = f"{names.head}.weight" in table
    config = ViTConfig(
        image_size=side * P,
        patch_size=P,
        width=D,
        mlp_width=table.shape(f"{names.block.format(0)}{names.fc1}.weight")[0],
        heads=heads or max(1, D // 64),
        layers=table.count(names.block.replace(".", r"\.").format(r"(\d+)")),
        classes=table.shape(f"{names.head}.weight")[0] if has_head else 1,
        pool="token" if has_token else "mean",
        gelu=names.gelu,
        eps=names.eps,
        channels=channels,
    )
    params = Params.zeros(parameter_shapes(config))
    params["patch.weight"] = table.take(f"{names.patch}.weight").transpose(2, 3, 1, 0).reshape(-1, D)
    params["patch.bias"] = table.take(f"{names.patch}.bias", (D,))
    if has_token:
        params["class_token"] = table.take(names.class_token, (1, 1, D)).reshape(D)
    params["position"] = table.take(names.position, (1, N, D))[0]
    for i in range(config.layers):
        _read_block(table, names, names.block.format(i), params, f"blocks.{i}.")
    norm = next((name for name in names.norm if f"{name}.weight" in table), names.norm[0])
    params["norm.weight"], params["norm.bias"] = table.take(f"{norm}.weight"), table.take(f"{norm}.bias")
    if has_head:
        _read_linear(table, names.head, params, "head")
    table.drop(names.unused)
    table.finish()
    return config, params


def _read_block(table: NamedArrays, names: Naming, theirs: str, params: Params, ours: str) -> None:
    for our_norm, their_norm in (("norm1", names.norm1), ("norm2", names.norm2)):
        for part in ("weight", "bias"):
            params[f"{ours}{our_norm}.{part}"] = table.take(f"{theirs}{their_norm}.{part}")
    weights = [table.take(f"{theirs}{name}.weight") for name in names.qkv]
    biases = [table.take(f"{theirs}{name}.bias") for name in names.qkv]
    params[f"{ours}attn.qkv.weight"] = np.concatenate(weights).T
    params[f"{ours}attn.qkv.bias"] = np.concatenate(biases)
    _read_linear(table, theirs + names.out, params, f"{ours}attn.out", theirs + names.scale1)
    _read_linear(table, theirs + names.fc1, params, f"{ours}mlp.fc1")
    _read_linear(table, theirs + names.fc2, params, f"{ours}mlp.fc2", theirs + names.scale2)


def _read_linear(table: NamedArrays, theirs: str, params: Params, ours: str, scale: str = "") -> None:
    """A linear layer, with the LayerScale behind it multiplied in if there is one."""
    weight = table.take(f"{theirs}.weight", params.shapes[f"{ours}.weight"][::-1]).T  # (I, O)
    bias = table.take(f"{theirs}.bias", params.shapes[f"{ours}.bias"])
    if scale in table:
        gamma = table.take(scale, bias.shape)
        weight, bias = weight * gamma, bias * gamma
    params[f"{ours}.weight"], params[f"{ours}.bias"] = weight, bias


def _without_prefix(arrays: dict[str, np.ndarray]) -> dict[str, np.ndarray]:
    """The arrays without the name of the whole model before theirs."""
    for prefix in _PREFIXES:
        if any(name.startswith(prefix) for name in arrays):
            return {name.removeprefix(prefix): array for name, array in arrays.items()}
    return arrays


def _naming(table: NamedArrays, source: str) -> Naming:
    if f"{TIMM.patch}.weight" in table:
        return TIMM
    for names in (HUGGING_FACE, DINOV2):
        if f"{names.block.format(0)}{names.norm1}.weight" in table:
            return names
    raise UserError(
        f"{source} is no ViT that tinyvit knows: expected the names of the official .npz files, of timm or "
        "of "
        "Hugging Face."
    )
