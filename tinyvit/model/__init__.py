"""The Vision Transformer: its numbers (config, presets), its parameters, its forward and backward."""

from tinyvit.model.config import ViTConfig
from tinyvit.model.head import with_identity_head, with_new_head
from tinyvit.model.initialise import initialise, parameter_shapes
from tinyvit.model.params import Params
from tinyvit.model.presets import OFFICIAL, SIZES, SMALL, is_preset, preset, usual_name
from tinyvit.model.vit import attention_maps, backward, forward, loss_and_grads

__all__ = [
    "OFFICIAL",
    "SIZES",
    "SMALL",
    "Params",
    "ViTConfig",
    "attention_maps",
    "backward",
    "forward",
    "initialise",
    "is_preset",
    "loss_and_grads",
    "parameter_shapes",
    "preset",
    "usual_name",
    "with_identity_head",
    "with_new_head",
]
