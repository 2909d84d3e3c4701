"""Lesson 10: many heads. Fill in the functions, then run: pytest lessons/10_multi_head"""

import math  # noqa: F401

import numpy as np  # noqa: F401

from tinyvit.ops import linear, linear_backward, softmax, softmax_backward  # noqa: F401 - you will want them


def split_heads(qkv, heads):
    """From (B, N, 3D), columns ordered (q k v, head, K), to q, k and v, each (B, H, N, K)."""
    raise NotImplementedError(
        "write split_heads: one reshape that names the axes, one transpose that orders them"
    )


def attention(x, qkv_weight, qkv_bias, out_weight, out_bias, heads):
    """Self-attention: x (B, N, D) to y (B, N, D), and a cache.

    qkv_weight (D, 3D), qkv_bias (3D,), out_weight (D, D), out_bias (D,); heads divides D.
    """
    raise NotImplementedError("write attention: equations 1 to 5, for all images and heads at once")


def attention_backward(dy, cache):
    """dx (B, N, D), dqkv_weight, dqkv_bias, dout_weight, dout_bias, from dy (B, N, D)."""
    raise NotImplementedError("write attention_backward: the five lines of the forward, in reverse order")


def trust_multi_head(forward, backward):
    """Whether these two are a right attention and attention_backward: True or False.

    forward(x, qkv_weight, qkv_bias, out_weight, out_bias, heads) returns (y, cache), backward(dy, cache) the
    five gradients, always in the right shapes.
    """
    raise NotImplementedError("write trust_multi_head: choose sizes, check the values and the gradients")


# The puzzle


def grouped_heads_backward(dy, q, k, v):
    """dq, dk, dv for H heads that share G keys and values; dy and q are (B, H, N, K), k and v (B, G, N, K).

    G divides H. Heads 0 to H/G - 1 ask group 0, the next H/G ask group 1, and so on. Each head is the
    attention of lesson 9, with the root of K; its mix is y (B, H, N, K), and dy is the gradient of that.
    """
    raise NotImplementedError("write grouped_heads_backward: what is shared, and among whom?")
