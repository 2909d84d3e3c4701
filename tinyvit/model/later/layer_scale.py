"""LayerScale (Touvron et al. 2021, *Going Deeper with Image Transformers*): a learned gain for each channel.

It acts on the output of each branch of a block, and starts at the small number config.layer_scale.
"""

from functools import partial

from tinyvit import ops
from tinyvit.model import distributions
from tinyvit.model.config import ViTConfig
from tinyvit.model.later.part import Part, Place, Specs, Stages, Step
from tinyvit.model.layout import ParamSpec
from tinyvit.model.stage import stage
from tinyvit.support.errors import UserError

_GAINS = {"attention": "scale1", "mlp": "scale2"}


def _branch(config: ViTConfig, place: Place, stages: Stages, step: Step) -> Stages:
    name = f"{place.prefix}{_GAINS[place.kind]}"
    return [*stages, stage(name, ops.layer_scale, ops.layer_scale_backward)]


def _specs(config: ViTConfig, place: Place, specs: Specs) -> Specs:
    init = partial(distributions.constant, value=config.layer_scale)
    gains = [ParamSpec(f"{place.prefix}{gain}", (config.width,), init) for gain in _GAINS.values()]
    return [*specs, *gains]


def _check(config: ViTConfig) -> None:
    if config.layer_scale < 0:
        raise UserError(f"layer_scale is {config.layer_scale}, expected 0 or more.")


PART = Part(
    {"layer_scale": 0.0},
    dict.fromkeys(_GAINS, _branch),
    {"block": _specs},
    check=_check,
    known_to={"layer_scale": "cpu onnx timm plain"},
)
