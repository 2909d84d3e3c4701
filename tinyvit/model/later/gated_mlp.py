"""Gated MLPs, such as SwiGLU: half of a wider layer decides how much of the other passes (see ops.gate)."""

from dataclasses import replace

from tinyvit import ops
from tinyvit.model.config import ViTConfig
from tinyvit.model.later.part import Part, Place, Specs, Stages, Step, instead
from tinyvit.model.stage import stage


def _stages(config: ViTConfig, place: Place, stages: Stages, step: Step) -> Stages:
    if place.kind != "mlp":
        return stages
    return instead(stages, "gelu", stage(f"{place.prefix}gelu", ops.gate, ops.gate_backward, config.gelu))


def _specs(config: ViTConfig, place: Place, specs: Specs) -> Specs:
    """The first layer of each MLP is twice as wide."""
    if place.kind != "block":
        return specs
    wide = f"{place.prefix}mlp.fc1."
    return [
        replace(spec, shape=(*spec.shape[:-1], 2 * config.mlp_width)) if spec.name.startswith(wide) else spec
        for spec in specs
    ]


def _multiply_adds(config: ViTConfig) -> int:
    return config.layers * config.tokens * config.width * config.mlp_width


PART = Part({"gated": False}, _stages, _specs, _multiply_adds, known_to={"gated": "cpu onnx"})
