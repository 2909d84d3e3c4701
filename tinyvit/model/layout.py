"""The table of parameters, the single place that defines them.

Each row names a parameter and gives its shape, how its initial values are drawn, whether weight decay acts on
it, whether it is a hidden matrix (one inside a block, neither the first nor the last layer), and which arrays
of an official .npz file it is made of. Initialisation, weight decay, the number of parameters, checkpoints
and the official layout all follow from these rows. See model.later for what a new part of the model needs
besides.

Matrices are stored input-by-output, and kernels of convolutions as (k, k, I, O). The letters are those of
tinyvit.ops.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial

from tinyvit.model import distributions as first
from tinyvit.model.config import ViTConfig
from tinyvit.model.rotary import first_frequencies
from tinyvit.ops.relative_bias import table_rows

Shape = tuple[int, ...]


@dataclass(frozen=True)
class Row:
    """One parameter.

    official lists (name, shape) of the arrays in the official layout that make up this parameter: they are
    reshaped and concatenated along the last axis.
    """

    name: str
    shape: Shape
    first: first.First = first.zeros
    decays: bool = False
    hidden: bool = False
    official: tuple[tuple[str, Shape], ...] = ()


def layout(config: ViTConfig) -> tuple[Row, ...]:
    """All parameters of a model, in the order of its forward pass."""
    blocks = [row for i in range(config.layers) for row in _block(config, i)]
    return (*_stem(config), *blocks, *_readout(config))


_READOUT = ("norm", "pool", "pre_logits", "head", "head2")


def depth(name: str) -> float:
    """Where in the model a parameter is: 0 for the stem, i + 1 for block i, infinity for the readout."""
    first, *rest = name.split(".")
    if first == "blocks":
        return int(rest[0]) + 1
    return math.inf if first in _READOUT else 0


def rows_of(shapes: Mapping[str, Shape]) -> tuple[Row, ...]:
    """A custom table from names and shapes; weight decay acts on matrices whose name ends in .weight."""
    return tuple(
        Row(name, shape, decays=name.endswith(".weight") and len(shape) == 2)
        for name, shape in shapes.items()
    )


def _stem(config: ViTConfig) -> list[Row]:
    """From pixels to tokens."""
    D, P = config.width, config.patch_size
    channels = config.feature_map[2]
    resnet = _resnet(config) if config.has_resnet else []
    if not config.has_transformer:
        return resnet
    rows = [
        *resnet,
        _matrix(
            "patch.weight",
            (P * P * channels, D),
            first.lecun_normal,
            ("embedding/kernel", (P, P, channels, D)),
        ),
        *([_vector("patch.bias", D, ("embedding/bias", (D,)))] if config.patch_bias else []),
    ]
    if config.predicts_patches:
        rows.append(_vector("mask_token", D))
    if config.has_token:
        rows.append(_vector("class_token", D, ("cls", (1, 1, D))))
    if config.pool == "distilled":
        rows.append(Row("distillation_token", (1, D), first.small_normal))
    if config.registers:
        rows.append(Row("registers", (config.registers, D), first.small_normal))
    if config.position_at != "blocks":
        rows += _positions(config, "position")
    return rows + (_plain_norm("pre_norm", D) if config.pre_norm else [])


def _positions(config: ViTConfig, part: str) -> list[Row]:
    """The tables of a position embedding; the official layout has only the learned one at the stem."""
    D, N, (gh, gw) = config.width, config.tokens, config.grid
    shapes = {
        "1d": {part: (config.position_rows + config.patches, D)},
        "2d": {f"{part}.rows": (gh, D // 2), f"{part}.columns": (gw, D // 2)},
        "relative": {part: (2 * N - 1, D // config.heads)},
        "bias": {part: (table_rows(config.grid, config.has_token), config.heads)},
    }.get(config.position, {})
    official = (("Transformer/posembed_input/pos_embedding", (1, N, D)),)
    known = official if (config.position, config.position_at) == ("1d", "stem") else ()
    return [Row(name, shape, first.small_normal, official=known) for name, shape in shapes.items()]


def _resnet(config: ViTConfig) -> list[Row]:
    """A ResNet: its root, and its stages of units, which the official names count from 1."""
    F = config.resnet_width
    rows = _convolution("resnet.root", "", (7, 7, config.channels, F), "conv_root", "gn_root")
    inputs = F
    for i, units in enumerate(config.resnet or ()):
        F = config.resnet_width * 2**i
        for j in range(units):
            rows += _unit(f"resnet.{i}.{j}", inputs, F, f"block{i + 1}/unit{j + 1}", projects=j == 0)
            inputs = 4 * F
    return rows


def _unit(ours: str, inputs: int, F: int, theirs: str, projects: bool) -> list[Row]:
    """One bottleneck unit; the gain of its last norm is 0 at first."""
    kernels = {"1": (1, 1, inputs, F), "2": (3, 3, F, F), "3": (1, 1, F, 4 * F)}
    if projects:
        kernels = {"_proj": (1, 1, inputs, 4 * F)} | kernels
    return [
        row
        for which, shape in kernels.items()
        for row in _convolution(
            ours,
            which,
            shape,
            f"{theirs}/conv{which}",
            f"{theirs}/gn{which}",
            gain=first.zeros if which == "3" else first.ones,
        )
    ]


def _convolution(
    part: str, which: str, shape: Shape, kernel: str, norm: str, gain: first.First = first.ones
) -> list[Row]:
    """A convolution without a bias, and the norm that follows it."""
    return [
        _matrix(f"{part}.conv{which}.weight", shape, first.lecun_normal, (f"{kernel}/kernel", shape)),
        *_norm(f"{part}.norm{which}", shape[-1], norm, gain),
    ]


def _block(config: ViTConfig, i: int) -> list[Row]:
    """One Transformer block."""
    D, M, H = config.width, config.mlp_width, config.heads
    K = D // H
    ours, theirs = f"blocks.{i}", f"Transformer/encoderblock_{i}"
    attention, mlp = f"{theirs}/MultiHeadDotProductAttention_1", f"{theirs}/MlpBlock_3"
    qkv = ("query", "key", "value")
    biases = {"all": 3, "qv": 2, "none": 0}[config.qkv_bias]
    known = tuple((f"{attention}/{part}/bias", (H, K)) for part in qkv)
    return [
        *(_positions(config, f"{ours}.position") if config.position_at == "blocks" else []),
        *_norm(f"{ours}.norm1", D, f"{theirs}/LayerNorm_0"),
        _matrix(
            f"{ours}.attn.qkv.weight",
            (D, 3 * D),
            first.xavier_uniform_qkv,
            *((f"{attention}/{part}/kernel", (D, H, K)) for part in qkv),
            hidden=True,
        ),
        *([_vector(f"{ours}.attn.qkv.bias", biases * D, *known)] if biases else []),
        _matrix(
            f"{ours}.attn.out.weight",
            (D, D),
            first.xavier_uniform,
            (f"{attention}/out/kernel", (H, K, D)),
            hidden=True,
        ),
        _vector(f"{ours}.attn.out.bias", D, (f"{attention}/out/bias", (D,))),
        *_norm(f"{ours}.norm2", D, f"{theirs}/LayerNorm_2"),
        *_mlp_layer(f"{ours}.mlp.fc1", (D, 2 * M if config.gated else M), f"{mlp}/Dense_0"),
        *_mlp_layer(f"{ours}.mlp.fc2", (M, D), f"{mlp}/Dense_1"),
        *_later_parts(config, ours),
    ]


def _later_parts(config: ViTConfig, ours: str) -> list[Row]:
    """What a block of a later ViT has besides."""
    D, K = config.width, config.head_width
    rows = []
    if config.qk_norm:
        rows += [*_plain_norm(f"{ours}.q_norm", K), *_plain_norm(f"{ours}.k_norm", K)]
    if config.attention_norm:
        rows += _plain_norm(f"{ours}.attention_norm", D)
    if config.mlp_norm:
        rows += _plain_norm(f"{ours}.mlp_norm", config.mlp_width)
    if config.rotary and config.rotary.learned:
        draw = partial(first_frequencies, theta=config.rotary.theta)
        rows.append(Row(f"{ours}.rotary", (2, config.heads, K // 2), draw))
    if config.layer_scale:
        small = partial(first.constant, value=config.layer_scale)
        rows += [_vector(f"{ours}.{name}", D, draw=small) for name in ("scale1", "scale2")]
    return rows


def _readout(config: ViTConfig) -> list[Row]:
    """From tokens to logits."""
    D, C, F = config.width, config.classes, config.pre_logits
    has_norm = config.has_transformer and config.final_norm != "none"
    rows = _norm("norm", D, "Transformer/encoder_norm") if has_norm else []
    if config.pool == "attention":
        rows += _attention_pool(config)
    if config.pool == "both":
        D *= 2
    if F:
        rows += [
            _matrix("pre_logits.weight", (D, F), first.lecun_normal, ("pre_logits/kernel", (D, F))),
            _vector("pre_logits.bias", F, ("pre_logits/bias", (F,))),
        ]
    rows.append(_matrix("head.weight", (F or D, C), first.zeros, ("head/kernel", (F or D, C))))
    if config.head_bias:
        rows.append(_vector("head.bias", C, ("head/bias", (C,))))
    if config.pool == "distilled":
        rows += [_matrix("head2.weight", (F or D, C), first.zeros), _vector("head2.bias", C)]
    return rows


def _attention_pool(config: ViTConfig) -> list[Row]:
    """Attention pooling, and the norm and MLP after it."""
    D, M = config.width, config.pool_mlp_width or config.mlp_width
    rows = [Row("pool.attn.probe", (1, D), first.small_normal)]
    for name, outputs in (("q", D), ("kv", 2 * D), ("out", D)):
        rows += [
            _matrix(f"pool.attn.{name}.weight", (D, outputs), first.xavier_uniform),
            _vector(f"pool.attn.{name}.bias", outputs),
        ]
    return [
        *rows,
        *_plain_norm("pool.norm", D),
        _matrix("pool.mlp.fc1.weight", (D, M), first.xavier_uniform),
        _vector("pool.mlp.fc1.bias", M),
        _matrix("pool.mlp.fc2.weight", (M, D), first.xavier_uniform),
        _vector("pool.mlp.fc2.bias", D),
    ]


def _matrix(
    name: str, shape: Shape, draw: first.First, *official: tuple[str, Shape], hidden: bool = False
) -> Row:
    return Row(name, shape, draw, decays=True, hidden=hidden, official=official)


def _vector(name: str, width: int, *official: tuple[str, Shape], draw: first.First = first.zeros) -> Row:
    return Row(name, (width,), draw, official=official)


def _norm(name: str, width: int, official: str, gain: first.First = first.ones) -> list[Row]:
    return [
        _vector(f"{name}.weight", width, (f"{official}/scale", (width,)), draw=gain),
        _vector(f"{name}.bias", width, (f"{official}/bias", (width,))),
    ]


def _plain_norm(name: str, width: int) -> list[Row]:
    """A norm that the official layout does not have."""
    return [_vector(f"{name}.weight", width, draw=first.ones), _vector(f"{name}.bias", width)]


def _mlp_layer(name: str, shape: Shape, official: str) -> list[Row]:
    outputs = shape[1]
    return [
        _matrix(f"{name}.weight", shape, first.xavier_uniform, (f"{official}/kernel", shape), hidden=True),
        _vector(f"{name}.bias", outputs, (f"{official}/bias", (outputs,)), draw=first.tiny_normal),
    ]
