"""From the functions of the lessons to those of the library: the same mathematics, other arguments.

Where the names and the arguments agree (linear, attention, mlp, ...), there is nothing to adapt. A block and
a ViT of the lessons take their parameters as a dict, and the library's find them by name. The adapters here
stand between the two.

    replacements({"linear": linear, "linear_backward": linear_backward})

gives what stands in for each function of the library, by the function that it replaces.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import replace

import numpy as np

from tinyvit import data, model, ops, optim
from tinyvit.backend import Array
from tinyvit.model import Params, ViTConfig
from tinyvit.model.block import block, block_backward, last_block, last_block_backward
from tinyvit.model.stage import Stage
from tinyvit.optim.adam import AdamW

# Functions that a block is made of, or a whole one.
INSIDE_A_BLOCK = {"attention", "single_head", "mlp", "block"}
# Learner's functions with the library's arguments, and where the library has them.
_ALIKE = {
    data: ("crop_and_flip", "normalise"),
    optim: ("learning_rate",),
    ops: (
        *("patchify", "patchify_backward", "unpatchify", "linear", "linear_backward"),
        *("class_token", "class_token_backward", "position_embedding_backward"),
        *("layer_norm", "layer_norm_backward", "softmax_backward", "gelu", "gelu_backward", "mlp_backward"),
        *("mlp", "attention", "attention_backward"),
        *("drop_path", "drop_path_backward", "cross_entropy", "cross_entropy_backward"),
    ),
}


def replacements(own: Mapping[str, Callable]) -> dict[Callable, Callable]:
    """The stand-ins for functions of the library, given the learner's functions by name."""
    found = {
        getattr(module, name): own[name] for module, names in _ALIKE.items() for name in names if name in own
    }
    if "attention" not in own and "single_head" in own:
        pair = _attention_of_heads(own["single_head"], own["single_head_backward"])
        found |= _paired((ops.attention, ops.attention_backward), pair)
    if "block" in own:
        pair = _block(own["block"], own["block_backward"])
        found |= _paired((block, block_backward), pair)
    if not INSIDE_A_BLOCK.isdisjoint(own):  # the library's last block has lines of its own
        found |= _paired(
            (last_block, last_block_backward),
            (found.get(block, block), found.get(block_backward, block_backward)),
        )
    if "forward" in own:
        found[model.stages] = _stages(own["forward"], own["backward"])
    if "clip_norm" in own:
        found[optim.clip_norm] = _clip_norm(own["clip_norm"])
    if "adamw_step" in own:
        found[AdamW] = _adamw(own["adamw_step"])
    return found


def training_config(config: ViTConfig, own: Mapping[str, Callable]) -> ViTConfig:
    """The configuration for training with the learner's functions.

    With stochastic depth, a block of the library is made of smaller operations than attention and the MLP. It
    is left out if the learner has one of those.
    """
    return config if INSIDE_A_BLOCK.isdisjoint(own) else replace(config, drop_path=0.0)


def _paired(names: tuple[Callable, ...], values: tuple[Callable, ...]) -> dict[Callable, Callable]:
    """A dict of the pairs."""
    return dict(zip(names, values, strict=True))


def _attention_of_heads(own: Callable, own_backward: Callable) -> tuple[Callable, Callable]:
    """Multi-head attention made of the attention of one head, with the heads in the place of images."""

    def attention(x, qkv_weight, qkv_bias, out_weight, out_bias, heads):
        B, N, D = x.shape
        qkv, qkv_cache = ops.linear(x, qkv_weight, qkv_bias)  # (B, N, 3D)
        parts = qkv.reshape(B, N, 3, heads, D // heads).transpose(2, 0, 3, 1, 4)  # (3, B, H, N, K)
        q, k, v = parts.reshape(3, B * heads, N, D // heads)
        o, head_cache = own(q, k, v)  # (B * H, N, K)
        o = o.reshape(B, heads, N, -1).transpose(0, 2, 1, 3).reshape(B, N, D)
        y, out_cache = ops.linear(o, out_weight, out_bias)
        return y, ((B, heads, N, D), qkv_cache, head_cache, out_cache)

    def attention_backward(dy, cache):
        (B, H, N, D), qkv_cache, head_cache, out_cache = cache
        do, dout_weight, dout_bias = ops.linear_backward(dy, out_cache)
        do = do.reshape(B, N, H, -1).transpose(0, 2, 1, 3).reshape(B * H, N, -1)
        parts = np.stack(own_backward(do, head_cache)).reshape(3, B, H, N, -1)
        dqkv = parts.transpose(1, 3, 0, 2, 4).reshape(B, N, 3 * D)
        dx, dqkv_weight, dqkv_bias = ops.linear_backward(dqkv, qkv_cache)
        return dx, dqkv_weight, dqkv_bias, dout_weight, dout_bias

    return attention, attention_backward


def _stages(own: Callable, own_backward: Callable) -> Callable:
    """The ViT on a dict of parameters as the only stage of a model."""

    def stages(config, noise=None, corruption=None, all_tokens=False):
        def backward(dlogits, cache, grads):
            for name, gradient in own_backward(dlogits, cache).items():
                grads.add(name, gradient)

        return [Stage("", lambda params, images: own(config, params, images), backward)]

    return stages


def _block(own: Callable, own_backward: Callable) -> tuple[Callable, Callable]:
    """The block on a dict of parameters. If it is the last, all tokens are computed, and one is read."""

    def own_block(params: Params, name: str, x: Array, heads: int, gelu: str, eps: float):
        prefix = f"{name}."
        named = {key[len(prefix) :]: params[key] for key in params if key.startswith(prefix)}
        return own(x, named, heads)

    def own_block_backward(dy: Array, cache: tuple, grads: Params, name: str) -> Array:
        dx, named = own_backward(dy, cache)
        for key, gradient in named.items():
            grads.add(f"{name}.{key}", gradient)
        return dx

    return own_block, own_block_backward


def _clip_norm(own: Callable) -> Callable:
    def clip_norm(grads: Params, largest: float, parallel_map: object = None) -> float:
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
