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


def with_bias(params: Params, name: str) -> tuple[Array, Array]:
    """Weight (I, O) and bias (O,) of a linear layer; zeros for a bias that the model does not have."""
    weight, *bias = params.group(name)
    return weight, bias[0] if bias else array_module(weight).zeros(weight.shape[1], dtype=weight.dtype)


def add_with_bias(grads: Params, name: str, dweight: Array, dbias: Array) -> None:
    """Add the gradients of a linear layer; that of a bias that the model does not have is left out."""
    grads.add(name, *(dweight, dbias)[: len(grads.group(name))])


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


def _patch(config: ViTConfig, place: Place, stages: Stages, step: Step) -> Stages:
    return stages if config.patch_bias else instead(stages, "patch", stage("patch", linear, linear_backward))


def _head(config: ViTConfig, place: Place, stages: Stages, step: Step) -> Stages:
    if config.head_bias or config.pool == "distilled":  # whose heads add zeros
        return stages
    return instead(stages, "head", stage("head", linear, linear_backward))


def _qkv_specs(config: ViTConfig, place: Place, specs: Specs) -> Specs:
    if config.qkv_bias == "all":
        return specs
    bias = specs[index_of(specs, "attn.qkv.bias")]
    of_two = [replace(bias, shape=(2 * config.width,))] if config.qkv_bias == "qv" else []
    return instead(specs, "attn.qkv.bias", *of_two)


PART = Part(
    {"patch_bias": True, "qkv_bias": "all", "head_bias": True},
    {"stem": _patch, "readout": _head},
    {
        "stem": lambda config, place, specs: specs if config.patch_bias else instead(specs, "patch.bias"),
        "block": _qkv_specs,
        "readout": lambda config, place, specs: specs if config.head_bias else instead(specs, "head.bias"),
    },
    known_to={"patch_bias": "cpu onnx", "qkv_bias": "cpu onnx timm plain", "head_bias": "cpu onnx"},
)
