"""The text tower of CLIP (Radford et al. 2021) and of SigLIP (Zhai et al. 2023), forward and backward.

    x = token table at the ids + positions                     (B, L, D)                   (1)
    x = blocks(x)                                              as of a ViT; causal in CLIP (2)
    e = LayerNorm(x) at one token, times a matrix              (B, E)                      (3)

In CLIP that token is the end token, which has seen all those before it. In SigLIP it is the last of all, and
the matrix has a bias.

Backward. Images and texts share no parameter; the gradient of (3) goes back to the rows that were read, and
that of the token table is summed over all places at which a token stood.
"""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from tinyvit import ops
from tinyvit.backend import Array, array_module
from tinyvit.model import Params, ViTConfig, distributions
from tinyvit.model.later.assemble import block_of
from tinyvit.model.later.biases import add_with_bias, with_bias
from tinyvit.model.layout import ParamSpec, layout
from tinyvit.model.stage import Stage, backward_through, forward_through


@dataclass(frozen=True)
class TextConfig:
    """length is the largest number of tokens, tokens that of the vocabulary, and dimensions is E.

    has_bias says whether the last matrix has a bias, as in SigLIP, and the other fields are those of the
    blocks, as in ViTConfig.
    """

    tokens: int
    length: int
    width: int
    mlp_width: int
    heads: int
    layers: int
    dimensions: int
    gelu: str = "quick"
    eps: float = 1e-5
    causal: bool = True
    has_bias: bool = False

    @property
    def blocks(self) -> ViTConfig:
        """The configuration of its blocks: those of a ViT, whose images do not matter."""
        return ViTConfig(
            image_size=(1, 1),
            patch_size=1,
            width=self.width,
            mlp_width=self.mlp_width,
            heads=self.heads,
            layers=self.layers,
            classes=1,
            pool="mean",
            gelu=self.gelu,
            eps=self.eps,
            position="none",
            causal=self.causal,
        )


def text_layout(config: TextConfig) -> tuple[ParamSpec, ...]:
    """The table of parameters, as model.layout has one for images."""
    D = config.width
    ends = [ParamSpec("projection.weight", (D, config.dimensions), distributions.lecun_normal)]
    ends += [ParamSpec("projection.bias", (config.dimensions,))] * config.has_bias
    return (
        ParamSpec("tokens", (config.tokens, D), distributions.small_normal),
        ParamSpec("positions", (config.length, D), distributions.small_normal),
        *(row for row in layout(config.blocks) if row.name.startswith(("blocks.", "norm."))),
        *ends,
    )


class TextCache(NamedTuple):
    """What the backward pass of a text tower needs."""

    config: TextConfig
    ids: Array
    read: tuple
    blocks: list
    norm: tuple
    projection: tuple


def embed_texts(config: TextConfig, params: Params, ids: Array, read: Array) -> tuple[Array, TextCache]:
    """Embeddings (B, E) of texts, and the cache.

    ids (B, L) are the numbers of their tokens, and read (B,) is the place of each text whose token is read.
    """
    xp = array_module(params.flat)
    x = params["tokens"][ids] + params["positions"][: ids.shape[1]]  # (B, L, D)             eq. 1
    x, caches = forward_through(_blocks(config), params, x)  #                               eq. 2
    at = (xp.arange(len(ids)), read)
    x, norm = ops.layer_norm(x[at], *params.group("norm"), config.eps)  # (B, D)
    e, projection = ops.linear(x, *with_bias(params, "projection"))
    return e, TextCache(config, ids, at, caches, norm, projection)  #                        eq. 3


def embed_texts_backward(de: Array, cache: TextCache, grads: Params) -> None:
    """Add every parameter's gradient to grads, given de (B, E) and the cache of embed_texts."""
    xp, config = array_module(de), cache.config
    dread, *dprojection = ops.linear_backward(de, cache.projection)
    add_with_bias(grads, "projection", *dprojection)
    dread, *dnorm = ops.layer_norm_backward(dread, cache.norm)
    grads.add("norm", *dnorm)
    dx = xp.zeros((*cache.ids.shape, config.width), dtype=de.dtype)
    dx[cache.read] = dread
    dx = backward_through(_blocks(config), dx, cache.blocks, grads)
    grads["positions"][: dx.shape[1]] += dx.sum(axis=0)
    xp.add.at(grads["tokens"], cache.ids, dx)


def _blocks(config: TextConfig) -> list[Stage]:
    return [block_of(config.blocks, i) for i in range(config.layers)]


def places_to_read(config: TextConfig, ids: np.ndarray, end: int | None) -> np.ndarray:
    """The place of each text's token that is read, (B,): its first end token, or the last of all.

    Without an end token, as in OpenAI's files, it is the largest number, which is that of the end.
    """
    if not config.causal:
        return np.full(len(ids), ids.shape[1] - 1)
    return ids.argmax(axis=1) if end is None else (ids == end).argmax(axis=1)
