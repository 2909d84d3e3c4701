"""The last LayerNorm after the pooling instead of before it, or none at all."""

from tinyvit.model.config import ViTConfig
from tinyvit.model.later.part import Part, Place, Specs, Stages, Step, after, index_of, instead


def _stages(config: ViTConfig, place: Place, stages: Stages, step: Step) -> Stages:
    if place.kind != "readout":
        return stages
    norm = stages[index_of(stages, "norm")]
    stages = instead(stages, "norm")
    return after(stages, "pool", norm) if config.final_norm == "pooled" else stages


def _specs(config: ViTConfig, place: Place, specs: Specs) -> Specs:
    if place.kind != "readout" or config.final_norm == "pooled":
        return specs
    return instead(instead(specs, "norm.weight"), "norm.bias")


PART = Part({"final_norm": "tokens"}, _stages, _specs, known_to={"final_norm": "cpu onnx timm"})
