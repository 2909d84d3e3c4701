"""A LayerNorm of the heads' outputs, before the output matrix, as in EVA-02 (Fang et al. 2023)."""

from tinyvit import ops
from tinyvit.model.config import ViTConfig
from tinyvit.model.later.part import Part, Place, Specs, Stages, Step, before
from tinyvit.model.layout import norm_specs
from tinyvit.model.stage import stage


def _stages(config: ViTConfig, place: Place, stages: Stages, step: Step) -> Stages:
    if place.kind != "attention":
        return stages
    name = f"{place.prefix}attention_norm"
    return before(stages, "attn.out", stage(name, ops.layer_norm, ops.layer_norm_backward, config.eps))


def _specs(config: ViTConfig, place: Place, specs: Specs) -> Specs:
    if place.kind != "block":
        return specs
    return [*specs, *norm_specs(f"{place.prefix}attention_norm", config.width)]


PART = Part({"attention_norm": False}, _stages, _specs, known_to={"attention_norm": "onnx"})
