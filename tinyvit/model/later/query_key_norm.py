"""A LayerNorm of each head's queries and keys (Dehghani et al. 2023, *Scaling to 22 Billion Parameters*)."""

from tinyvit import ops
from tinyvit.backend import Array
from tinyvit.model.config import ViTConfig
from tinyvit.model.later.part import Part, Place, Specs, Stages, Step
from tinyvit.model.layout import norm_specs
from tinyvit.model.params import Params
from tinyvit.model.stage import Stage


def _norms(prefix: str, eps: float) -> Stage:
    names = f"{prefix}q_norm", f"{prefix}k_norm"

    def forward(params: Params, pair: tuple[Array, Array]) -> tuple:
        q, k = (ops.layer_norm(x, *params.group(name), eps) for x, name in zip(pair, names, strict=True))
        return (q[0], k[0]), (q[1], k[1])

    def backward(dpair: tuple[Array, Array], caches: tuple, grads: Params) -> tuple:
        result = []
        for dy, cache, name in zip(dpair, caches, names, strict=True):
            dx, *dnorm = ops.layer_norm_backward(dy, cache)
            grads.add(name, *dnorm)
            result.append(dx)
        return tuple(result)

    return Stage(f"{prefix}qk_norm", forward, backward)


def _stages(config: ViTConfig, place: Place, stages: Stages, step: Step) -> Stages:
    return [*stages, _norms(place.prefix, config.eps)] if place.kind == "heads" else stages


def _specs(config: ViTConfig, place: Place, specs: Specs) -> Specs:
    if place.kind != "block":
        return specs
    norms = [spec for x in "qk" for spec in norm_specs(f"{place.prefix}{x}_norm", config.head_width)]
    return [*specs, *norms]


PART = Part({"qk_norm": False}, _stages, _specs, known_to={"qk_norm": "onnx timm"})
