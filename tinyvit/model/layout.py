"""The table of parameters of the paper's model.

Each row names a parameter and gives its shape, how its initial values are drawn, whether weight decay acts on
it, whether it is a hidden matrix (one inside a block, not in the stem or the readout), and which arrays of an
official .npz file it is made of. Initialisation, weight decay, the number of parameters, checkpoints
and the official layout all follow from these rows. Other models edit the lists of rows: see model.later.

Matrices are stored input-by-output, and kernels of convolutions as (k, k, I, O). The letters are those of
tinyvit.ops.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace

from tinyvit.model import distributions
from tinyvit.model.config import ViTConfig
from tinyvit.model.distributions import Initialiser
from tinyvit.model.paper_config import PaperConfig

Shape = tuple[int, ...]


@dataclass(frozen=True)
class ParamSpec:
    """One parameter.

    official lists (name, shape) of the arrays in the official layout that make up this parameter: they are
    reshaped and concatenated along the last axis.
    """

    name: str
    shape: Shape
    init: Initialiser = distributions.zeros
    decays: bool = False
    hidden: bool = False
    official: tuple[tuple[str, Shape], ...] = ()


def layout(config: ViTConfig) -> tuple[ParamSpec, ...]:
    """All parameters of a model, in the order of its forward pass."""
    if config.is_paper:
        blocks = [spec for i in range(config.layers) for spec in block_specs(config, i)]
        return (*stem_specs(config), *blocks, *readout_specs(config))
    from tinyvit.model.later.assemble import specs_of  # the paper's model does not need it

    return specs_of(config)


_READOUT = ("norm", "pool", "pre_logits", "head", "head2")


def depth(name: str) -> float:
    """The place of a parameter in the model: 0 for the stem, i + 1 for block i, infinity for the readout."""
    part, *rest = name.split(".")
    if part == "blocks":
        return int(rest[0]) + 1
    return math.inf if part in _READOUT else 0


def specs_from_shapes(shapes: Mapping[str, Shape]) -> tuple[ParamSpec, ...]:
    """A custom table from names and shapes; weight decay acts on matrices whose name ends in .weight."""
    return tuple(
        ParamSpec(name, shape, decays=name.endswith(".weight") and len(shape) == 2)
        for name, shape in shapes.items()
    )


def stem_specs(config: PaperConfig) -> list[ParamSpec]:
    """From pixels to tokens."""
    D, N, P, channels = config.width, config.tokens, config.patch_size, config.feature_map[2]
    kernel, table = (P, P, channels, D), (1, N, D)
    return [
        ParamSpec(
            "patch.weight",
            (P * P * channels, D),
            distributions.lecun_normal,
            decays=True,
            official=(("embedding/kernel", kernel),),
        ),
        ParamSpec("patch.bias", (D,), official=(("embedding/bias", (D,)),)),
        ParamSpec("class_token", (D,), official=(("cls", (1, 1, D)),)),
        ParamSpec(
            "position",
            (N, D),
            distributions.small_normal,
            official=(("Transformer/posembed_input/pos_embedding", table),),
        ),
    ]


def block_specs(config: PaperConfig, i: int) -> list[ParamSpec]:
    """One Transformer block."""
    D, M, H = config.width, config.mlp_width, config.heads
    K = D // H
    ours, theirs = f"blocks.{i}", f"Transformer/encoderblock_{i}"
    attention, mlp = f"{theirs}/MultiHeadDotProductAttention_1", f"{theirs}/MlpBlock_3"
    qkv = ("query", "key", "value")
    return [
        *norm_specs(f"{ours}.norm1", D, f"{theirs}/LayerNorm_0"),
        ParamSpec(
            f"{ours}.attn.qkv.weight",
            (D, 3 * D),
            distributions.xavier_uniform_qkv,
            decays=True,
            hidden=True,
            official=tuple((f"{attention}/{part}/kernel", (D, H, K)) for part in qkv),
        ),
        ParamSpec(
            f"{ours}.attn.qkv.bias",
            (3 * D,),
            official=tuple((f"{attention}/{part}/bias", (H, K)) for part in qkv),
        ),
        ParamSpec(
            f"{ours}.attn.out.weight",
            (D, D),
            distributions.xavier_uniform,
            decays=True,
            hidden=True,
            official=((f"{attention}/out/kernel", (H, K, D)),),
        ),
        ParamSpec(f"{ours}.attn.out.bias", (D,), official=((f"{attention}/out/bias", (D,)),)),
        *norm_specs(f"{ours}.norm2", D, f"{theirs}/LayerNorm_2"),
        *_mlp_layer(f"{ours}.mlp.fc1", D, M, f"{mlp}/Dense_0"),
        *_mlp_layer(f"{ours}.mlp.fc2", M, D, f"{mlp}/Dense_1"),
    ]


def readout_specs(config: PaperConfig) -> list[ParamSpec]:
    """From tokens to logits."""
    return [
        *norm_specs("norm", config.width, "Transformer/encoder_norm"),
        *linear_specs("head", config.feature_width, config.classes, distributions.zeros, official="head"),
    ]


def norm_specs(
    name: str, width: int, official: str = "", gain: Initialiser = distributions.ones
) -> list[ParamSpec]:
    """A LayerNorm or GroupNorm; official is its name in the official layout, if that has it."""
    theirs = {part: ((f"{official}/{part}", (width,)),) if official else () for part in ("scale", "bias")}
    return [
        ParamSpec(f"{name}.weight", (width,), gain, official=theirs["scale"]),
        ParamSpec(f"{name}.bias", (width,), official=theirs["bias"]),
    ]


def linear_specs(
    name: str, inputs: int, outputs: int, init: Initialiser, official: str = "", hidden: bool = False
) -> list[ParamSpec]:
    """A linear layer, whose bias starts at 0. hidden is True in a block: see ParamSpec."""
    shape = (inputs, outputs)
    kernel = ((f"{official}/kernel", shape),) if official else ()
    bias = ((f"{official}/bias", (outputs,)),) if official else ()
    return [
        ParamSpec(f"{name}.weight", shape, init, decays=True, hidden=hidden, official=kernel),
        ParamSpec(f"{name}.bias", (outputs,), official=bias),
    ]


def _mlp_layer(name: str, inputs: int, outputs: int, official: str) -> list[ParamSpec]:
    weight, bias = linear_specs(name, inputs, outputs, distributions.xavier_uniform, official, hidden=True)
    return [weight, replace(bias, init=distributions.tiny_normal)]
