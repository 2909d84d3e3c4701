"""Gated MLPs, such as SwiGLU: half of a wider layer decides how much of the other passes (see ops.gate)."""

from dataclasses import replace

from tinyvit import ops
from tinyvit.model.config import ViTConfig
from tinyvit.model.later.part import Part, Place, Specs, Stages, Step, instead
from tinyvit.model.stage import stage


def _mlp(config: ViTConfig, place: Place, stages: Stages, step: Step) -> Stages:
    return instead(stages, "gelu", stage(f"{place.prefix}gelu", ops.gate, ops.gate_backward, config.gelu))


def _specs(config: ViTConfig, place: Place, specs: Specs) -> Specs:
    """The first layer of each MLP is twice as wide."""
    wide = f"{place.prefix}mlp.fc1."
    return [
        replace(spec, shape=(*spec.shape[:-1], 2 * config.mlp_width)) if spec.name.startswith(wide) else spec
        for spec in specs
    ]


PART = Part(
    {"gated": False},
    {"mlp": _mlp},
    {"block": _specs},
    lambda config: sum(map(config.tokens_of, range(config.layers))) * config.width * config.mlp_width,
    known_to={"gated": "cpu onnx"},
)
