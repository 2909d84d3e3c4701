"""The operations of a ViT and of its training, in the order of the lessons: the parts that can be yours."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Operation:
    """One operation: a forward with its backward, or a step of the training.

    lesson is the number of the lesson that asks for it, functions the names of the learner's functions that
    make it up (the forward first), parts what lights up on the map (lessons.diagram), inside the operations
    that are made of it.
    """

    name: str
    lesson: int
    functions: tuple[str, ...]
    parts: tuple[str, ...]
    inside: tuple[str, ...] = ()


_ATTENTION, _MLP = ("attention", "block", "ViT"), ("MLP", "block", "ViT")

# An operation stands below all those that it is made of, so the first one that is wrong is the one at fault.
OPERATIONS = (
    Operation("crop and flip", 12, ("crop_and_flip",), ("crop",)),
    Operation("normalise", 0, ("normalise",), ("normalise",)),
    Operation("patches", 5, ("patchify", "patchify_backward", "unpatchify"), ("patchify",), ("ViT",)),
    Operation("linear", 3, ("linear", "linear_backward"), ("linear",), ("one head", *_ATTENTION, "MLP")),
    Operation("class token", 5, ("class_token", "class_token_backward"), ("class_token",), ("ViT",)),
    Operation("position embedding", 5, ("position_embedding_backward",), ("position",), ("ViT",)),
    Operation("LayerNorm", 7, ("layer_norm", "layer_norm_backward"), ("layer_norm",), ("block", "ViT")),
    Operation(
        "softmax backward", 1, ("softmax_backward",), ("softmax.attention",), ("one head", *_ATTENTION)
    ),
    Operation("one head", 6, ("single_head", "single_head_backward"), ("single_head",), _ATTENTION),
    Operation("attention", 6, ("attention", "attention_backward"), ("attention",), ("block", "ViT")),
    Operation("GELU", 4, ("gelu", "gelu_backward"), ("gelu",), _MLP),
    Operation("MLP", 4, ("mlp", "mlp_backward"), ("mlp",), ("block", "ViT")),
    Operation("drop path", 12, ("drop_path", "drop_path_backward"), ("drop_path",), ("block", "ViT")),
    Operation("block", 8, ("block", "block_backward"), ("block",), ("ViT",)),
    Operation("ViT", 8, ("forward", "backward"), ("vit", "backward")),
    Operation(
        "cross-entropy",
        1,
        ("cross_entropy", "cross_entropy_backward"),
        ("softmax.last", "cross_entropy", "loss"),
    ),
    Operation("clipping", 9, ("clip_norm",), ("clip",)),
    Operation("learning rate", 9, ("learning_rate",), ("rate",)),
    Operation("AdamW", 9, ("adamw_step",), ("adamw",)),
    Operation("one batch", 11, ("train_on_batch",), ("gradients", "parameters")),
)
OPERATION_OF = {name: operation.name for operation in OPERATIONS for name in operation.functions}
BY_NAME = {operation.name: operation for operation in OPERATIONS}
OF_THE_MODEL = OPERATIONS[: [operation.name for operation in OPERATIONS].index("clipping")]
