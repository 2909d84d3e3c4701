"""What the blocks of later ViTs have besides those of the paper, each one step that most models leave out.

Attention without some of its biases, with norms within it, or with rotary positions; LayerScale; gated MLPs.
See ViTConfig for the fields that say which. In the paper's ViT, these functions change nothing and add
nothing.

A new part of a block needs, in this order: an operation in ops and its check in checking.operations; a
field of ViTConfig, with its value in the paper in LATER_PARTS; its rows in model.layout; its step here; a
model that has it in checking.models; and its nodes in weights.onnx_file, which otherwise must refuse it.
The CPU and CUDA engines leave models with parts that they do not know to the functions of tinyvit.model.
"""

from typing import Any

from tinyvit import ops
from tinyvit.backend import Array, array_module
from tinyvit.model.config import ViTConfig
from tinyvit.model.params import Params
from tinyvit.model.positions import bias_part
from tinyvit.model.rotary import add_frequencies, turn_of


def attention_weights(config: ViTConfig, params: Params, part: str) -> tuple[Array, ...]:
    """The four arrays of ops.attention, with zeros for biases that a block does not have."""
    if config.qkv_bias == "all":
        return params.group(f"{part}.attn")
    D, (weight, *bias, out, out_bias) = config.width, params.group(f"{part}.attn")
    whole = array_module(weight).zeros(3 * D, dtype=weight.dtype)
    if bias:  # of queries and values
        whole[:D], whole[2 * D :] = bias[0][:D], bias[0][D:]
    return weight, whole, out, out_bias


def add_attention(config: ViTConfig, gradients: list[Array], part: str, grads: Params) -> None:
    """Add the gradients of attention_weights to grads, without those of absent biases."""
    dweight, dbias, *of_outputs = gradients
    grads.add(f"{part}.attn", dweight, *own_biases(config, dbias), *of_outputs)


def own_biases(config: ViTConfig, dbias: Array) -> list[Array]:
    """Of the gradient (3D,) of the biases of queries, keys and values, that of those that a block has."""
    if config.qkv_bias == "qv":
        D = config.width
        return [array_module(dbias).concatenate([dbias[:D], dbias[2 * D :]])]
    return [dbias] if config.qkv_bias == "all" else []


def attention_extras(config: ViTConfig, params: Params, i: int) -> dict[str, ops.Extras]:
    """The argument `extras` of ops.attention in block number i, if there is anything to say."""
    has_scores = config.causal or config.position == "bias"
    if not (config.qk_norm or config.attention_norm or config.rotary or has_scores):
        return {}
    part = f"blocks.{i}"
    q_norm, k_norm = (params.group(f"{part}.{x}_norm") if config.qk_norm else () for x in "qk")
    out_norm = params.group(f"{part}.attention_norm") if config.attention_norm else ()
    turn, scores = turn_of(config, params, i), None
    if table := bias_part(config, i):
        scores, _ = ops.relative_bias(params[table], config.grid, config.has_token)
    return {"extras": ops.Extras(q_norm, k_norm, turn, out_norm, config.eps, config.causal, scores)}


def add_extras(config: ViTConfig, gradients: ops.ExtraGrads, i: int, grads: Params) -> None:
    """Add the gradients of attention_extras to grads."""
    norms = {"q_norm": gradients.q_norm, "k_norm": gradients.k_norm, "attention_norm": gradients.out_norm}
    for name, values in norms.items():
        if values:
            grads.add(f"blocks.{i}.{name}", *values)
    if part := bias_part(config, i):
        grads.add(part, ops.relative_bias_backward(gradients.dscores, (config.grid, config.has_token)))
    if gradients.dangles is not None:
        add_frequencies(config, gradients.dangles, i, grads)


def scale(config: ViTConfig, params: Params, name: str, x: Array) -> tuple[Array, tuple | None]:
    """x (B, N, D), scaled by LayerScale if the model has it, and the cache."""
    return ops.layer_scale(x, params[name]) if config.layer_scale else (x, None)


def scale_backward(dx: Array, cache: tuple | None, name: str, grads: Params) -> Array:
    """Gradient of scale: dx (B, N, D); adds that of its gain to grads."""
    if cache is None:
        return dx
    dx, dgain = ops.layer_scale_backward(dx, cache)
    grads.add(name, dgain)
    return dx


def mlp_extras(config: ViTConfig, params: Params, part: str) -> dict[str, Any]:
    """The last arguments of ops.mlp in a block: its gate and its norm, if it has them."""
    norm = {"norm": params.group(f"{part}.mlp_norm"), "eps": config.eps} if config.mlp_norm else {}
    return norm | ({"gated": True} if config.gated else {})
