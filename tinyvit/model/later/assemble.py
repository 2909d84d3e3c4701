"""Any model, assembled from the paper's lists by the parts that are in it."""

import math

from tinyvit import ops
from tinyvit.backend import Array, array_module
from tinyvit.model.block import block, block_backward, last_block, last_block_backward
from tinyvit.model.config import ViTConfig
from tinyvit.model.later import PARTS
from tinyvit.model.later.biases import own_biases, qkv_bias
from tinyvit.model.later.part import Place, Specs, Stages, Step
from tinyvit.model.layout import ParamSpec, block_specs, depth, readout_specs, stem_specs
from tinyvit.model.params import Params
from tinyvit.model.stage import Stage, backward_through, block_stage, forward_through, stage
from tinyvit.model.vit import vit
from tinyvit.ops.attention import join_heads, split_heads
from tinyvit.support.errors import UserError

PLAIN = Step()  # in inference, and in training without noise


def stages_of(config: ViTConfig, step: Step = PLAIN, all_tokens: bool = False) -> Stages:
    """The stages of a model. With all_tokens, the last block computes every token: see model.vit."""
    blocks = [block_of(config, i, step, all_tokens) for i in range(config.layers)]
    paper = vit(config, all_tokens=True)
    return [
        *_edited(config, Place("stem"), paper[:4], step),
        *blocks,
        *_edited(config, Place("readout"), paper[-3:], step),
    ]


def block_of(config: ViTConfig, i: int, step: Step = PLAIN, all_tokens: bool = False) -> Stage:
    """Block number i: the paper's, if no part edits its lists."""
    name, tokens = f"blocks.{i}", None if all_tokens else config.tokens_needed_after(i)

    def edited(kind: str, *paper: Stage) -> Stages:
        return _edited(config, Place(kind, i), list(paper), step)

    inner = edited("heads"), edited("scores"), edited("probabilities")
    attention = (
        stage(f"{name}.norm1", ops.layer_norm, ops.layer_norm_backward, config.eps),
        attention_stage(config, f"{name}.attn", tokens, *inner),
        stage(f"{name}.attn.out", ops.linear, ops.linear_backward),
    )
    mlp = (
        stage(f"{name}.norm2", ops.layer_norm, ops.layer_norm_backward, config.eps),
        stage(f"{name}.mlp.fc1", ops.linear, ops.linear_backward),
        stage(f"{name}.gelu", ops.gelu, ops.gelu_backward, config.gelu),
        stage(f"{name}.mlp.fc2", ops.linear, ops.linear_backward),
    )
    lists = edited("block"), edited("attention", *attention), edited("mlp", *mlp)
    if lists == ([], list(attention), list(mlp)) and not any(inner) and config.qkv_bias == "all":
        pair = (last_block, last_block_backward) if tokens == 1 else (block, block_backward)
        return block_stage(i, *pair, config.heads, config.gelu, config.eps)
    return later_block(name, tokens, *lists)


def later_block(name: str, tokens: int | None, before: Stages, attention: Stages, mlp: Stages) -> Stage:
    """The block of model.block, made of lists of stages that parts have edited: x (B, N, D) to y (B, R, D).

    R is `tokens`, or N if that is None. If only the first R tokens are needed after the block, the attention
    branch returns these alone, and they are added to the first R tokens of x.
    """

    def forward(params: Params, x: Array) -> tuple[Array, tuple]:
        x, of_before = forward_through(before, params, x)
        a, of_attention = forward_through(attention, params, x)
        x = x[:, :tokens] + a  # (B, R, D)
        m, of_mlp = forward_through(mlp, params, x)
        # The second entry is that of attention in every block's cache: see model.attention_maps.
        return x + m, (of_before, of_attention[1], of_attention, of_mlp)

    def backward(dy: Array, cache: tuple, grads: Params) -> Array:
        of_before, _, of_attention, of_mlp = cache
        dx = backward_through(mlp, dy, of_mlp, grads)
        dx += dy  # (B, R, D)
        dall = backward_through(attention, dx, of_attention, grads)  # (B, N, D)
        dall[:, : dx.shape[1]] += dx
        return backward_through(before, dall, of_before, grads)

    return Stage(name, forward, backward)


def attention_stage(
    config: ViTConfig, name: str, queries: int | None, heads: Stages, scores: Stages, probabilities: Stages
) -> Stage:
    """Tokens (B, N, D) to the heads' mixtures of values, side by side (B, Q, D).

    These are the lines of ops.attention up to the output matrix, with stages in them: on queries and keys, on
    their scores, and on the probabilities. Only the first `queries` tokens are queries, if that is given.
    """
    H, scale = config.heads, 1 / math.sqrt(config.head_width)

    def forward(params: Params, x: Array) -> tuple[Array, tuple]:
        weight, *bias = params.group(f"{name}.qkv")
        qkv, qkv_cache = ops.linear(x, weight, qkv_bias(config, tuple(bias), weight))  # (B, N, 3D)
        q, k, v = split_heads(qkv, 3, H)  # (B, H, N, K) each
        (q, k), of_heads = forward_through(heads, params, (q, k))
        q = q[:, :, :queries] * scale  # (B, H, Q, K)
        (_, S), of_scores = forward_through(scores, params, (q, q @ k.transpose(0, 1, 3, 2)))
        A, _ = ops.softmax(S)  # (B, H, Q, N)
        mixed, of_probabilities = forward_through(probabilities, params, A)
        cache = qkv_cache, (q, k, v, A), mixed, of_heads, of_scores, of_probabilities
        return join_heads(mixed @ v), cache

    def backward(do: Array, cache: tuple, grads: Params) -> Array:
        qkv_cache, (q, k, v, A), mixed, of_heads, of_scores, of_probabilities = cache
        (B, _, N, K), Q = k.shape, q.shape[2]
        (do,) = split_heads(do, 1, H)  # (B, H, Q, K)
        dqkv = array_module(do).empty((B, N, 3 * H * K), dtype=do.dtype)
        dq, dk, dv = split_heads(dqkv, 3, H)  # views: writing to them fills dqkv
        dA = backward_through(probabilities, do @ v.transpose(0, 1, 3, 2), of_probabilities, grads)
        dv[...] = mixed.transpose(0, 1, 3, 2) @ do
        more, dS = backward_through(scores, (0, ops.softmax_backward(dA, A)), of_scores, grads)
        dq[:, :, :Q] = dS @ k * scale
        dq[:, :, :Q] += more * scale
        dq[:, :, Q:] = 0  # these tokens were not queries
        dk[...] = dS.transpose(0, 1, 3, 2) @ q  # q is scaled
        dq[...], dk[...] = backward_through(heads, (dq, dk), of_heads, grads)
        dx, dweight, dbias = ops.linear_backward(dqkv, qkv_cache)
        grads.add(f"{name}.qkv", dweight, *own_biases(config, dbias))
        return dx

    return Stage(name, forward, backward)


def specs_of(config: ViTConfig) -> tuple[ParamSpec, ...]:
    """The parameters of a model."""
    specs = _edited_specs(config, Place("stem"), stem_specs(config))
    for i in range(config.layers):
        specs += _edited_specs(config, Place("block", i), block_specs(config, i))
    return (*specs, *_edited_specs(config, Place("readout"), readout_specs(config)))


def _edited(config: ViTConfig, place: Place, stages: Stages, step: Step) -> Stages:
    for part in PARTS:
        if place.kind in part.stages and part.is_in(config):
            stages = part.stages[place.kind](config, place, stages, step)
    return stages


def _edited_specs(config: ViTConfig, place: Place, specs: Specs) -> Specs:
    for part in PARTS:
        if place.kind in part.specs and part.is_in(config):
            specs = part.specs[place.kind](config, place, specs)
    where = {"stem": 0, "readout": math.inf}.get(place.kind, (place.block or 0) + 1)
    if wrong := [spec.name for spec in specs if depth(spec.name) != where]:
        raise UserError(f"{wrong[0]!r} does not name a parameter of the {place.kind}: see model.later.part.")
    return specs
