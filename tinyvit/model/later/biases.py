"""Layers without a bias: the patch embedding, the head, and queries, keys and values."""

from dataclasses import replace

from tinyvit import ops
from tinyvit.backend import Array, array_module
from tinyvit.model.config import ViTConfig
from tinyvit.model.later.part import Part, Place, Specs, Stages, Step, index_of, instead
from tinyvit.model.params import Params
from tinyvit.model.stage import stage


def linear(x: Array, weight: Array) -> tuple[Array, tuple]:
    """ops.linear without a bias: x (..., I) and weight (I, O) to y (..., O), and the cache."""
    return ops.linear(x, weight, array_module(x).zeros(weight.shape[1], dtype=x.dtype))


def linear_backward(dy: Array, cache: tuple) -> tuple[Array, Array]:
    """Gradients of linear: dx (..., I), dweight (I, O)."""
    return ops.linear_backward(dy, cache)[:2]


def qkv_bias(config: ViTConfig, bias: tuple[Array, ...], weight: Array) -> Array:
    """The bias (3D,) of queries, keys and values, with zeros for those that the model does not have."""
    if config.qkv_bias == "all":
        return bias[0]
    D, full = config.width, array_module(weight).zeros(3 * config.width, dtype=weight.dtype)
    if bias:  # of queries and values
        full[:D], full[2 * D :] = bias[0][:D], bias[0][D:]
    return full


def own_biases(config: ViTConfig, dbias: Array) -> list[Array]:
    """The part of dbias (3D,), of queries, keys and values, that belongs to biases the model has."""
    if config.qkv_bias == "qv":
        D = config.width
        return [array_module(dbias).concatenate([dbias[:D], dbias[2 * D :]])]
    return [dbias] if config.qkv_bias == "all" else []


def attention_weights(config: ViTConfig, params: Params, part: str) -> tuple[Array, ...]:
    """The four arrays of ops.attention, with zeros for biases that a block does not have."""
    weight, *bias, out, out_bias = params.group(f"{part}.attn")
    return weight, qkv_bias(config, tuple(bias), weight), out, out_bias


def _stages(config: ViTConfig, place: Place, stages: Stages, step: Step) -> Stages:
    for kind, name, has_bias in (
        ("stem", "patch", config.patch_bias),
        ("readout", "head", config.head_bias or config.pool == "distilled"),
    ):
        if place.kind == kind and not has_bias:
            return instead(stages, name, stage(name, linear, linear_backward))
    return stages


def _specs(config: ViTConfig, place: Place, specs: Specs) -> Specs:
    if place.kind == "stem" and not config.patch_bias:
        return instead(specs, "patch.bias")
    if place.kind == "readout" and not config.head_bias:
        return instead(specs, "head.bias")
    if place.kind == "block" and config.qkv_bias != "all":
        bias = specs[index_of(specs, "attn.qkv.bias")]
        of_two = [replace(bias, shape=(2 * config.width,))] if config.qkv_bias == "qv" else []
        return instead(specs, "attn.qkv.bias", *of_two)
    return specs


PART = Part(
    {"patch_bias": True, "qkv_bias": "all", "head_bias": True},
    _stages,
    _specs,
    known_to={"patch_bias": "cpu onnx", "qkv_bias": "cpu onnx timm plain", "head_bias": "cpu onnx"},
)
