"""What later ViTs add to the attention and the MLP of the paper's block.

Attention without some of its biases, with norms within it, or with positions of another kind; gated MLPs. See
ViTConfig for the fields that say which. In the paper's ViT these functions only fetch the arrays of a block
and add their gradients.

A new part of a block needs, in this order: an operation in ops, with its check in checking.operations; a
field of ViTConfig, with its value in the paper in LATER_PARTS; its rows in model.layout; its step here, or in
ops.attention by way of Extras; a model that has it in checking.models; and its multiply-adds in model.cost.
An .onnx file is refused until weights.onnx_file has its nodes, and the engines for CPU and GPU leave it to
tinyvit.model until they know it. In a class-token model the last block computes only that token: for a part
that mixes tokens after the attention, ViTConfig.rows_after must return None. Then tests/ops, tests/model,
tests/checking and tests/lessons tell what is missing.
"""

from typing import Any

from tinyvit import ops
from tinyvit.backend import Array, array_module
from tinyvit.model.config import ViTConfig
from tinyvit.model.params import Params
from tinyvit.model.positions import bias_part, relative_part
from tinyvit.model.rotary import add_frequencies, turn_of


def attention_arguments(
    config: ViTConfig, params: Params, i: int
) -> tuple[tuple[Array, ...], dict[str, Any]]:
    """The four arrays of ops.attention in block number i, and its options that only some models use."""
    weights, options = attention_weights(config, params, f"blocks.{i}"), {}
    if part := relative_part(config, i):
        options["relative"] = params[part]
    if extras := _extras(config, params, i):
        options["extras"] = extras
    return weights, options


def add_attention(config: ViTConfig, i: int, gradients: list[Array], grads: Params) -> None:
    """Add to grads what ops.attention_backward returned after dx."""
    dweight, dbias, dout, dout_bias, *others = gradients
    grads.add(f"blocks.{i}.attn", dweight, *own_biases(config, dbias), dout, dout_bias)
    if part := relative_part(config, i):
        grads.add(part, others.pop(0))
    if others:
        _add_extras(config, others[0], i, grads)


def mlp_options(config: ViTConfig, params: Params, i: int) -> dict[str, Any]:
    """The last arguments of ops.mlp in block number i: its norm and its gate, if it has them."""
    norm = {"norm": params.group(f"blocks.{i}.mlp_norm"), "eps": config.eps} if config.mlp_norm else {}
    return norm | ({"gated": True} if config.gated else {})


def add_mlp(config: ViTConfig, i: int, gradients: list[Array], grads: Params) -> None:
    """Add to grads what ops.mlp_backward returned after dx."""
    grads.add(f"blocks.{i}.mlp", *gradients[:4])
    if config.mlp_norm:
        grads.add(f"blocks.{i}.mlp_norm", *gradients[4:])


def attention_weights(config: ViTConfig, params: Params, part: str) -> tuple[Array, ...]:
    """The four arrays of ops.attention, with zeros for biases that a block does not have."""
    if config.qkv_bias == "all":
        return params.group(f"{part}.attn")
    D, (weight, *bias, out, out_bias) = config.width, params.group(f"{part}.attn")
    whole = array_module(weight).zeros(3 * D, dtype=weight.dtype)
    if bias:  # of queries and values
        whole[:D], whole[2 * D :] = bias[0][:D], bias[0][D:]
    return weight, whole, out, out_bias


def own_biases(config: ViTConfig, dbias: Array) -> list[Array]:
    """The part of dbias (3D,), of queries, keys and values, that belongs to biases the block has."""
    if config.qkv_bias == "qv":
        D = config.width
        return [array_module(dbias).concatenate([dbias[:D], dbias[2 * D :]])]
    return [dbias] if config.qkv_bias == "all" else []


def _extras(config: ViTConfig, params: Params, i: int) -> ops.Extras | None:
    """The extras of ops.attention in block number i; None if there are none."""
    has_scores = config.causal or config.position == "bias"
    if not (config.qk_norm or config.attention_norm or config.rotary or has_scores):
        return None
    part = f"blocks.{i}"
    q_norm, k_norm = (params.group(f"{part}.{x}_norm") if config.qk_norm else () for x in "qk")
    out_norm = params.group(f"{part}.attention_norm") if config.attention_norm else ()
    turn, scores = turn_of(config, params, i), None
    if table := bias_part(config, i):
        scores, _ = ops.relative_bias(params[table], config.grid, config.has_token)
    return ops.Extras(q_norm, k_norm, turn, out_norm, config.eps, config.causal, scores)


def _add_extras(config: ViTConfig, gradients: ops.ExtraGrads, i: int, grads: Params) -> None:
    """Add the gradients of _extras to grads."""
    norms = {"q_norm": gradients.q_norm, "k_norm": gradients.k_norm, "attention_norm": gradients.out_norm}
    for name, values in norms.items():
        if values:
            grads.add(f"blocks.{i}.{name}", *values)
    if part := bias_part(config, i):
        grads.add(part, ops.relative_bias_backward(gradients.dscores, (config.grid, config.has_token)))
    if gradients.dangles is not None:
        add_frequencies(config, gradients.dangles, i, grads)
