"""The Vision Transformer: its configuration and presets, its parameters, its forward and backward passes."""

from tinyvit.model.block import block, block_backward
from tinyvit.model.config import ViTConfig
from tinyvit.model.engine_blocks import EngineBlocks
from tinyvit.model.initialise import INITS, initialise
from tinyvit.model.layout import Row, layout, rows_of
from tinyvit.model.model import Model
from tinyvit.model.params import Params
from tinyvit.model.presets import OFFICIAL, RESNETS, SIZES, SMALL, is_preset, is_resnet, preset, usual_name
from tinyvit.model.vit import (
    Cache,
    attention_by_block,
    attention_maps,
    backward,
    features,
    forward,
    infer,
)

__all__ = [
    "INITS",
    "OFFICIAL",
    "RESNETS",
    "SIZES",
    "SMALL",
    "Cache",
    "EngineBlocks",
    "Model",
    "Params",
    "Row",
    "ViTConfig",
    "attention_by_block",
    "attention_maps",
    "backward",
    "block",
    "block_backward",
    "features",
    "forward",
    "infer",
    "initialise",
    "is_preset",
    "is_resnet",
    "layout",
    "preset",
    "rows_of",
    "usual_name",
]
