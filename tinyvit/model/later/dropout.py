"""Dropout and stochastic depth, which act in training only.

dropout acts on the tokens that enter the first block, after the GELU of each MLP, and at the end of each
branch; attention_dropout on the probabilities of attention; drop_path leaves out whole branches of an image.
"""

from tinyvit import ops
from tinyvit.model.config import ViTConfig
from tinyvit.model.later.part import Part, Place, Stages, Step, after
from tinyvit.model.stage import Stage, stage


def _tokens(config: ViTConfig, place: Place, stages: Stages, step: Step) -> Stages:
    return [*stages, *_dropout(config.dropout, step)]


def _probabilities(config: ViTConfig, place: Place, stages: Stages, step: Step) -> Stages:
    return [*stages, *_dropout(config.attention_dropout, step)]


def _branch(config: ViTConfig, place: Place, stages: Stages, step: Step) -> Stages:
    stages, rate = _tokens(config, place, stages, step), config.drop_path_rate(place.block or 0)
    if not rate or step.noise is None:
        return stages
    return [*stages, stage("drop_path", ops.drop_path, ops.drop_path_backward, rate, step.noise)]


def _mlp(config: ViTConfig, place: Place, stages: Stages, step: Step) -> Stages:
    return _branch(config, place, after(stages, "gelu", *_dropout(config.dropout, step)), step)


def _dropout(rate: float, step: Step) -> list[Stage]:
    acts = rate and step.noise is not None
    return [stage("dropout", ops.dropout, ops.dropout_backward, rate, step.noise)] if acts else []


PART = Part(
    {"dropout": 0.0, "attention_dropout": 0.0, "drop_path": 0.0},
    {"stem": _tokens, "probabilities": _probabilities, "attention": _branch, "mlp": _mlp},
)
