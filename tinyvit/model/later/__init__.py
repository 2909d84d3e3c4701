"""Everything beside the paper's main model: its own variants, and parts introduced after it.

One part, one file. A part edits the lists of stages and of parameters that make up the paper's model, names
the fields of ViTConfig that ask for it, and counts its multiply-adds: see model.later.part. A new part is one
such file and a line in PARTS, beside its operation in ops. The order of PARTS is the order in which they edit
the lists.
"""

from tinyvit.model.later import (
    activations,
    attention_norm,
    attention_pool,
    biases,
    causal,
    distillation,
    dropout,
    dropped_patches,
    final_norm,
    gated_mlp,
    layer_scale,
    masked_patches,
    mlp_norm,
    pools,
    positions,
    pre_logits,
    pre_norm,
    query_key_norm,
    registers,
    relative_positions,
    resnet,
    rotary,
)

PARTS = tuple(
    module.PART
    for module in (
        activations,
        registers,
        distillation,
        pools,
        masked_patches,
        positions,
        relative_positions,
        pre_norm,
        dropped_patches,
        query_key_norm,
        attention_norm,
        gated_mlp,
        mlp_norm,
        rotary,
        causal,
        layer_scale,
        dropout,
        pre_logits,
        attention_pool,
        final_norm,
        biases,
        resnet,
    )
)


def fields_known_to(name: str) -> set[str]:
    """The fields of ViTConfig, of those that only later models set, that an engine or a format has.

    The names are cpu and cuda for the engines' fast paths; onnx, timm and page for what can be written; and
    plain for what can be folded into the arrays of a plain ViT, and is seen in a file from its arrays.
    """
    return {field for part in PARTS for field, names in part.known_to.items() if name in names.split()}
