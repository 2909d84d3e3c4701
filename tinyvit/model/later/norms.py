"""LayerNorms in other places than the paper's.

config            where                                                  as in
pre_norm          before the first block                                 CLIP (Radford et al. 2021)
attention_norm    on the heads' outputs, before the output matrix        EVA-02 (Fang et al. 2023)
mlp_norm          within the MLP, before its second layer                EVA-02
qk_norm           on the queries and keys of each head                   ViT-22B (Dehghani et al. 2023)
final_norm        the last one, after the pooling instead of before it, or nowhere
"""

from tinyvit import ops
from tinyvit.backend import Array
from tinyvit.model.config import ViTConfig
from tinyvit.model.later.part import Part, Place, Specs, Stages, Step, after, before, index_of, instead
from tinyvit.model.layout import norm_specs
from tinyvit.model.params import Params
from tinyvit.model.stage import Stage, stage


def _added_norm(field: str, kind: str, next_stage: str, width: str, known_to: str) -> Part:
    """A LayerNorm called like its field, in a place, before a stage there or, without one, after all."""

    def stages(config: ViTConfig, place: Place, stages: Stages, step: Step) -> Stages:
        norm = stage(f"{place.prefix}{field}", ops.layer_norm, ops.layer_norm_backward, config.eps)
        return before(stages, next_stage, norm) if next_stage else [*stages, norm]

    def specs(config: ViTConfig, place: Place, specs: Specs) -> Specs:
        return [*specs, *norm_specs(f"{place.prefix}{field}", getattr(config, width))]

    place_of_specs = "stem" if kind == "stem" else "block"
    return Part({field: False}, {kind: stages}, {place_of_specs: specs}, known_to={field: known_to})


PRE_NORM = _added_norm("pre_norm", "stem", "", "width", "cpu onnx")
ATTENTION_NORM = _added_norm("attention_norm", "attention", "attn.out", "width", "onnx")
MLP_NORM = _added_norm("mlp_norm", "mlp", "mlp.fc2", "mlp_width", "onnx")


def _two_norms(config: ViTConfig, place: Place, stages: Stages, step: Step) -> Stages:
    names, eps = (f"{place.prefix}q_norm", f"{place.prefix}k_norm"), config.eps

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

    return [*stages, Stage(f"{place.prefix}qk_norm", forward, backward)]


def _two_norms_specs(config: ViTConfig, place: Place, specs: Specs) -> Specs:
    norms = [spec for x in "qk" for spec in norm_specs(f"{place.prefix}{x}_norm", config.head_width)]
    return [*specs, *norms]


QK_NORM = Part(
    {"qk_norm": False}, {"heads": _two_norms}, {"block": _two_norms_specs}, known_to={"qk_norm": "onnx timm"}
)


def _moved(config: ViTConfig, place: Place, stages: Stages, step: Step) -> Stages:
    norm, others = stages[index_of(stages, "norm")], instead(stages, "norm")
    return after(others, "pool", norm) if config.final_norm == "pooled" else others


def _moved_specs(config: ViTConfig, place: Place, specs: Specs) -> Specs:
    return specs if config.final_norm == "pooled" else instead(instead(specs, "norm.weight"), "norm.bias")


FINAL_NORM = Part(
    {"final_norm": "tokens"},
    {"readout": _moved},
    {"readout": _moved_specs},
    known_to={"final_norm": "cpu onnx timm"},
)
