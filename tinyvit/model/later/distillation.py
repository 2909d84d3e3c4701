"""The distillation token of DeiT (Touvron et al. 2021): a second class token, with a head of its own.

Both heads answer, and the logits are the mean of the two answers:

    y = (x_0 W + b + x_1 W' + b') / 2                                                      (1)

Backward: half of dy reaches each head, and each head's dx goes to the token that it reads.
"""

from tinyvit import ops
from tinyvit.backend import Array, array_module
from tinyvit.model import distributions
from tinyvit.model.config import ViTConfig
from tinyvit.model.later.biases import add_with_bias, with_bias
from tinyvit.model.later.part import Part, Place, Specs, Stages, Step, after, instead
from tinyvit.model.layout import ParamSpec, linear_specs
from tinyvit.model.params import Params
from tinyvit.model.stage import Stage, stage


def two_tokens(x: Array) -> tuple[Array, tuple]:
    """The class token and the distillation token, (B, 2, D), of tokens x (B, N, D); and the cache."""
    return x[:, :2], x.shape


def two_tokens_backward(dy: Array, cache: tuple) -> Array:
    """Gradient of two_tokens: dx (B, N, D), zero for all other tokens."""
    dx = array_module(dy).zeros(cache, dtype=dy.dtype)
    dx[:, :2] = dy
    return dx


def _two_heads(params: Params, x: Array) -> tuple[Array, tuple]:
    one, cache = ops.linear(x[:, 0], *with_bias(params, "head"))
    other, cache2 = ops.linear(x[:, 1], *with_bias(params, "head2"))
    return (one + other) * 0.5, (cache, cache2)  #                                           eq. 1


def _two_heads_backward(dy: Array, caches: tuple, grads: Params) -> Array:
    each = []
    for name, cache in zip(("head", "head2"), caches, strict=True):
        dx, *dhead = ops.linear_backward(dy * 0.5, cache)
        add_with_bias(grads, name, *dhead)
        each.append(dx)
    return array_module(dy).stack(each, axis=1)  # (B, 2, D)


def _stem(config: ViTConfig, place: Place, stages: Stages, step: Step) -> Stages:
    token = stage("distillation_token", ops.register_tokens, ops.register_tokens_backward)
    return after(stages, "registers" if config.registers else "patch", token)


def _readout(config: ViTConfig, place: Place, stages: Stages, step: Step) -> Stages:
    stages = instead(stages, "pool", stage("pool", two_tokens, two_tokens_backward))
    return instead(stages, "head", Stage("head", _two_heads, _two_heads_backward))


def _token_specs(config: ViTConfig, place: Place, specs: Specs) -> Specs:
    token = ParamSpec("distillation_token", (1, config.width), distributions.small_normal)
    return after(specs, "class_token", token)


def _head_specs(config: ViTConfig, place: Place, specs: Specs) -> Specs:
    weight, bias = linear_specs("head2", config.feature_width, config.classes, distributions.zeros)
    return [*specs, weight, bias] if config.head_bias else [*specs, weight]


PART = Part(
    {"pool": "token"},
    {"stem": _stem, "readout": _readout},
    {"stem": _token_specs, "readout": _head_specs},
    lambda config: config.feature_width * config.classes,
    when=lambda config: config.pool == "distilled",
)
