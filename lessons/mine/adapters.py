"""From the functions of the lessons to those of the library: the same mathematics, other arguments.

In the lessons, a function takes what its formula has. The library's functions also take dropout, the number
of queries, a model's configuration. The adapters here stand between the two. Where the names and the
arguments agree (linear, layer_norm, ...), there is nothing to adapt.

    replacements({"linear": linear, "linear_backward": linear_backward})

gives what stands in for each function of the library, by the function that it replaces.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping

import numpy as np

from tinyvit import data, model, ops, optim
from tinyvit.backend import Array
from tinyvit.model import Params, ViTConfig
from tinyvit.optim.adam import AdamW

# Learner's functions with the library's arguments, and where the library has them.
_ALIKE = {
    data: ("crop_and_flip", "normalise"),
    optim: ("learning_rate",),
    ops: (
        *("patchify", "patchify_backward", "unpatchify", "linear", "linear_backward"),
        *("class_token", "class_token_backward", "position_embedding_backward"),
        *("layer_norm", "layer_norm_backward", "softmax_backward", "gelu", "gelu_backward", "mlp_backward"),
        *("drop_path", "drop_path_backward", "cross_entropy", "cross_entropy_backward"),
    ),
}


def replacements(own: Mapping[str, Callable]) -> dict[Callable, Callable]:
    """What stands in for functions of the library, given the learner's functions by name."""
    found = {
        getattr(module, name): own[name] for module, names in _ALIKE.items() for name in names if name in own
    }
    if "mlp" in own:
        found[ops.mlp] = _mlp(own["mlp"])
    if "attention" in own:
        pair = _attention(own["attention"], own["attention_backward"])
        found |= _paired((ops.attention, ops.attention_backward), pair)
    elif "single_head" in own:
        pair = _attention_of_heads(own["single_head"], own["single_head_backward"])
        found |= _paired((ops.attention, ops.attention_backward), pair)
    if "block" in own:
        pair = _block(own["block"], own["block_backward"])
        found |= _paired((model.block, model.block_backward), pair)
    if "forward" in own:
        functions = _vit(own["forward"], own["backward"])
        found |= _paired((model.forward, model.infer, model.backward), functions)
    if "clip_norm" in own:
        found[optim.clip_norm] = _clip_norm(own["clip_norm"])
    if "adamw_step" in own:
        found[AdamW] = _adamw(own["adamw_step"])
    return found


def _paired(names: tuple[Callable, ...], values: tuple[Callable, ...]) -> dict[Callable, Callable]:
    """A dict of the pairs."""
    return dict(zip(names, values, strict=True))


def _mlp(own: Callable) -> Callable:
    def mlp(x, weight1, bias1, weight2, bias2, gelu_form="tanh", dropout_rate=0.0, noise=None):
        return own(x, weight1, bias1, weight2, bias2, gelu_form)

    return mlp


def _attention(own: Callable, own_backward: Callable) -> tuple[Callable, Callable]:
    """Attention in which all tokens are queries, cut down to the first `queries` of them."""

    def attention(
        x, qkv_weight, qkv_bias, out_weight, out_bias, heads, queries=None, dropout_rate=0.0, noise=None
    ):
        y, cache = own(x, qkv_weight, qkv_bias, out_weight, out_bias, heads)
        return y[:, :queries], (cache, y.shape)

    def attention_backward(dy, cache):
        own_cache, shape = cache
        return own_backward(_with_zeros(dy, shape), own_cache)

    return attention, attention_backward


def _attention_of_heads(own: Callable, own_backward: Callable) -> tuple[Callable, Callable]:
    """Multi-head attention made of the attention of one head, with the heads in the place of images."""

    def attention(
        x, qkv_weight, qkv_bias, out_weight, out_bias, heads, queries=None, dropout_rate=0.0, noise=None
    ):
        B, N, D = x.shape
        qkv, qkv_cache = ops.linear(x, qkv_weight, qkv_bias)  # (B, N, 3D)
        parts = qkv.reshape(B, N, 3, heads, D // heads).transpose(2, 0, 3, 1, 4)  # (3, B, H, N, K)
        q, k, v = parts.reshape(3, B * heads, N, D // heads)
        o, head_cache = own(q, k, v)  # (B * H, N, K)
        o = o.reshape(B, heads, N, -1).transpose(0, 2, 1, 3).reshape(B, N, D)
        y, out_cache = ops.linear(o[:, :queries], out_weight, out_bias)
        return y, ((B, heads, N, D), qkv_cache, head_cache, out_cache)

    def attention_backward(dy, cache):
        (B, H, N, D), qkv_cache, head_cache, out_cache = cache
        do, dout_weight, dout_bias = ops.linear_backward(dy, out_cache)
        do = _with_zeros(do, (B, N, D)).reshape(B, N, H, -1).transpose(0, 2, 1, 3).reshape(B * H, N, -1)
        parts = np.stack(own_backward(do, head_cache)).reshape(3, B, H, N, -1)
        dqkv = parts.transpose(1, 3, 0, 2, 4).reshape(B, N, 3 * D)
        dx, dqkv_weight, dqkv_bias = ops.linear_backward(dqkv, qkv_cache)
        return dx, dqkv_weight, dqkv_bias, dout_weight, dout_bias

    return attention, attention_backward


def _vit(own: Callable, own_backward: Callable) -> tuple[Callable, Callable, Callable]:
    """The ViT on a dict of parameters, which knows of no dropout, nothing frozen and no corrupted patches."""

    def forward(config, params, images, noise=None, whole=False, blocks=None, frozen=None):
        return own(config, params, images)

    def infer(config, params, images, corruption=None):
        return own(config, params, images)[0]

    def backward(dlogits, cache, grads):
        for name, gradient in own_backward(dlogits, cache).items():
            grads.add(name, gradient)

    return forward, infer, backward


def _block(own: Callable, own_backward: Callable) -> tuple[Callable, Callable]:
    """The block on a plain dict of parameters. Stochastic depth, if any, leaves out both branches at once."""

    def block(config: ViTConfig, params: Params, i: int, x: Array, noise=None, rows=None):
        prefix, rate = f"blocks.{i}.", config.drop_path_rate(i)
        named = {name[len(prefix) :]: params[name] for name in params if name.startswith(prefix)}
        y, cache = own(x, named, config.heads)
        path = None
        if rate and noise is not None:
            branches, path = ops.drop_path(y - x, rate, noise)
            y = x + branches
        return y[:, :rows], (cache, path, y.shape)

    def block_backward(i: int, dy: Array, cache: tuple, grads: Params) -> Array:
        own_cache, path, shape = cache
        dy = _with_zeros(dy, shape)
        dbranches = dy if path is None else ops.drop_path_backward(dy, path)
        dx, named = own_backward(dbranches, own_cache)  # through x as well as through the branches
        for name, gradient in named.items():
            grads.add(f"blocks.{i}.{name}", gradient)
        return dx if path is None else dx + (dy - dbranches)

    return block, block_backward


def _clip_norm(own: Callable) -> Callable:
    def clip_norm(grads: Params, largest: float, spread: object = None) -> float:
        if largest == math.inf:
            return np.sqrt(grads.flat @ grads.flat)
        clipped, norm = own(grads.flat, largest)
        grads.flat[...] = clipped
        return norm

    return clip_norm


def _adamw(own: Callable) -> type:
    """An optimiser of the library made of a function for one step; weight decay acts on matrices alone."""

    class OwnAdamW(AdamW):
        def step(self, grads: Params, lr: float, step: int) -> None:
            cut = self.params.decayed
            for part, decay in ((slice(0, cut), self.weight_decay), (slice(cut, None), 0.0)):
                w, g, m, v = self.params.flat[part], grads.flat[part], self.m[part], self.v[part]
                w[...], m[...], v[...] = own(w, g, m, v, lr, step, self.betas, self.eps, decay)

    return OwnAdamW


def _with_zeros(dy: Array, shape: tuple[int, ...]) -> Array:
    """The gradient of tokens of which only the first were used: zero for all others."""
    if dy.shape == shape:
        return dy
    full = np.zeros(shape, dy.dtype)
    full[:, : dy.shape[1]] = dy
    return full
