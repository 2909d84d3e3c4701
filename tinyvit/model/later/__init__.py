"""Everything beyond the paper's main model: its own variants, and parts introduced after it.

One part, one file. A part edits the lists of stages and of parameters that make up the paper's model, checks
the fields of ViTConfig that ask for it, counts its multiply-adds, and names the engines and formats that have
it: see model.later.part. The order of PARTS is the order in which they edit the lists.

A new part is one such file, with PART = Part(name="my_part", stages={"mlp": ...}), and one line in PARTS.
Then

    model = tinyvit.preset("nano/4", 32, 10, parts=("my_part",))

is a model that has it, which trains, is saved and loaded. Engines and formats that do not have the part leave
the model to the reference, or refuse it. Add a small model with the part to tinyvit.gradcheck.models: its
gradients are then checked by python -m tinyvit.gradcheck, and all else by pytest tests/model.
"""

from tinyvit.model.config import ViTConfig
from tinyvit.model.later import (
    attention_pool,
    biases,
    causal,
    distillation,
    dropout,
    dropped_patches,
    gated_mlp,
    layer_scale,
    masked_patches,
    merged_patches,
    norms,
    pools,
    positions,
    pre_logits,
    registers,
    relative_positions,
    resnet,
    rotary,
)
from tinyvit.model.later.part import Part
from tinyvit.support.errors import UserError

PARTS = (
    Part({"gelu": "tanh"}, known_to={"gelu": "cpu onnx timm"}),  # other activations: see ops.gelu
    registers.PART,
    distillation.PART,
    pools.PART,
    masked_patches.PART,
    positions.PART,
    relative_positions.PART,
    norms.PRE_NORM,
    dropped_patches.PART,
    merged_patches.PART,
    norms.QK_NORM,
    norms.ATTENTION_NORM,
    gated_mlp.PART,
    norms.MLP_NORM,
    rotary.PART,
    causal.PART,
    layer_scale.PART,
    dropout.PART,
    pre_logits.PART,
    attention_pool.PART,
    norms.FINAL_NORM,
    biases.PART,
    resnet.PART,
)


def fields_known_to(name: str) -> set[str]:
    """The fields of later models that an engine or a format supports.

    The names are cpu and cuda for the engines' fast paths; onnx, timm and page for what can be written; and
    plain for what can be folded into the arrays of a plain ViT, and is recognised from the arrays of a file.
    """
    return {field for part in PARTS for field, names in part.known_to.items() if name in names.split()}


def needs_all_tokens(config: ViTConfig) -> bool:
    """True if a part of a model needs all tokens after the attention of the last block."""
    return any(part.needs_all_tokens and part.is_in(config) for part in PARTS)


def check_parts(config: ViTConfig) -> None:
    """Raise UserError if a part of a model does not exist, or does not fit the rest."""
    if unknown := set(config.parts) - {part.name for part in PARTS if part.name}:
        raise UserError(f"there is no part {min(unknown)!r}: see PARTS in tinyvit/model/later/__init__.py.")
    for part in PARTS:
        if part.is_in(config):
            part.check(config)
