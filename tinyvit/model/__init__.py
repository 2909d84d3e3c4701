"""The Vision Transformer: its configuration and presets, its parameters, its forward and backward passes."""

from tinyvit.model.attention_maps import attention_among_all, attention_maps
from tinyvit.model.block import block, block_backward
from tinyvit.model.config import ViTConfig
from tinyvit.model.initialise import INITS, initialise
from tinyvit.model.layout import ParamSpec, layout, specs_from_shapes
from tinyvit.model.model import Model
from tinyvit.model.params import Params
from tinyvit.model.passes import (
    Cache,
    backward,
    feature_stages,
    features,
    forward,
    infer,
    stages,
)
from tinyvit.model.presets import OFFICIAL, RESNETS, SIZES, SMALL, is_preset, is_resnet, preset, usual_name
from tinyvit.model.stage import Stage
from tinyvit.model.vit import vit

__all__ = [
    "INITS",
    "OFFICIAL",
    "RESNETS",
    "SIZES",
    "SMALL",
    "Cache",
    "Model",
    "ParamSpec",
    "Params",
    "Stage",
    "ViTConfig",
    "attention_among_all",
    "attention_maps",
    "backward",
    "block",
    "block_backward",
    "feature_stages",
    "features",
    "forward",
    "infer",
    "initialise",
    "is_preset",
    "is_resnet",
    "layout",
    "preset",
    "specs_from_shapes",
    "stages",
    "usual_name",
    "vit",
]
