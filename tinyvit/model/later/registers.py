"""Registers (Darcet et al. 2024, *Vision Transformers Need Registers*): learned tokens that no head reads.

A model may note in them what belongs to no patch. They stand between the class token and the patches.
"""

from tinyvit import ops
from tinyvit.model import distributions
from tinyvit.model.config import ViTConfig
from tinyvit.model.later.part import Part, Place, Specs, Stages, Step, after, before
from tinyvit.model.layout import ParamSpec
from tinyvit.model.stage import stage


def _stem(config: ViTConfig, place: Place, stages: Stages, step: Step) -> Stages:
    return after(stages, "patch", stage("registers", ops.register_tokens, ops.register_tokens_backward))


def _specs(config: ViTConfig, place: Place, specs: Specs) -> Specs:
    tokens = ParamSpec("registers", (config.registers, config.width), distributions.small_normal)
    return before(specs, "position", tokens)


PART = Part({"registers": 0}, {"stem": _stem}, {"stem": _specs}, known_to={"registers": "cpu cuda onnx timm"})
