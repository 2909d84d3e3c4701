"""The tanh layer before the head, which the paper has in pre-training (section 3.1)."""

from tinyvit import ops
from tinyvit.model import distributions
from tinyvit.model.config import ViTConfig
from tinyvit.model.later.part import Part, Place, Specs, Stages, Step, before
from tinyvit.model.layout import linear_specs
from tinyvit.model.stage import stage


def _readout(config: ViTConfig, place: Place, stages: Stages, step: Step) -> Stages:
    layer = stage("pre_logits", ops.linear, ops.linear_backward)
    return before(stages, "head", layer, stage("tanh", ops.tanh, ops.tanh_backward))


def _specs(config: ViTConfig, place: Place, specs: Specs) -> Specs:
    D, F = config.pooled_width, config.pre_logits
    new = linear_specs("pre_logits", D, F, distributions.lecun_normal, official="pre_logits")
    return before(specs, "head.weight", *new)


def _multiply_adds(config: ViTConfig) -> int:
    heads = config.patches if config.predicts_patches else 2 if config.pool == "distilled" else 1
    return heads * config.pooled_width * config.pre_logits


PART = Part({"pre_logits": 0}, {"readout": _readout}, {"readout": _specs}, _multiply_adds)
