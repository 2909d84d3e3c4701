"""Dropout and stochastic depth, which act in training only.

dropout acts on the tokens that enter the first block, after the GELU of each MLP, and at the end of each
branch; attention_dropout on the probabilities of attention; drop_path leaves out whole branches of an image.
"""

from tinyvit import ops
from tinyvit.model.config import ViTConfig
from tinyvit.model.later.part import Part, Place, Stages, Step, after
from tinyvit.model.stage import Stage, stage


def _stages(config: ViTConfig, place: Place, stages: Stages, step: Step) -> Stages:
    if step.noise is None:
        return stages
    if place.kind == "probabilities":
        return [*stages, *_dropout(config.attention_dropout, step)]
    if place.kind == "mlp":
        stages = after(stages, "gelu", *_dropout(config.dropout, step))
    if place.kind in ("stem", "attention", "mlp"):
        stages = [*stages, *_dropout(config.dropout, step)]
    if place.block is not None and place.kind in ("attention", "mlp"):
        rate = config.drop_path_rate(place.block)
        path = stage("drop_path", ops.drop_path, ops.drop_path_backward, rate, step.noise)
        return [*stages, path] if rate else stages
    return stages


def _dropout(rate: float, step: Step) -> list[Stage]:
    return [stage("dropout", ops.dropout, ops.dropout_backward, rate, step.noise)] if rate else []


PART = Part({"dropout": 0.0, "attention_dropout": 0.0, "drop_path": 0.0}, _stages)
