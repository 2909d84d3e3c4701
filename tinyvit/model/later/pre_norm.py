"""A LayerNorm before the first block, as in CLIP (Radford et al. 2021)."""

from tinyvit import ops
from tinyvit.model.config import ViTConfig
from tinyvit.model.later.part import Part, Place, Specs, Stages, Step
from tinyvit.model.layout import norm_specs
from tinyvit.model.stage import stage


def _stages(config: ViTConfig, place: Place, stages: Stages, step: Step) -> Stages:
    if place.kind != "stem":
        return stages
    return [*stages, stage("pre_norm", ops.layer_norm, ops.layer_norm_backward, config.eps)]


def _specs(config: ViTConfig, place: Place, specs: Specs) -> Specs:
    return [*specs, *norm_specs("pre_norm", config.width)] if place.kind == "stem" else specs


PART = Part({"pre_norm": False}, _stages, _specs, known_to={"pre_norm": "cpu onnx"})
