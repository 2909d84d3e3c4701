"""A LayerNorm within the MLP, before its second layer, as in EVA-02 (Fang et al. 2023)."""

from tinyvit import ops
from tinyvit.model.config import ViTConfig
from tinyvit.model.later.part import Part, Place, Specs, Stages, Step, before
from tinyvit.model.layout import norm_specs
from tinyvit.model.stage import stage


def _stages(config: ViTConfig, place: Place, stages: Stages, step: Step) -> Stages:
    if place.kind != "mlp":
        return stages
    norm = stage(f"{place.prefix}mlp_norm", ops.layer_norm, ops.layer_norm_backward, config.eps)
    return before(stages, "mlp.fc2", norm)


def _specs(config: ViTConfig, place: Place, specs: Specs) -> Specs:
    if place.kind != "block":
        return specs
    return [*specs, *norm_specs(f"{place.prefix}mlp_norm", config.mlp_width)]


PART = Part({"mlp_norm": False}, _stages, _specs, known_to={"mlp_norm": "onnx"})
