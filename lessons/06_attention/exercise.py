"""Lesson 6: attention. Fill in the functions, then run: pytest lessons/06_attention"""

import math  # noqa: F401 - math.sqrt keeps float32 what it is

import numpy as np  # noqa: F401

from tinyvit.ops import linear, linear_backward, softmax, softmax_backward  # noqa: F401 - you will want them


def single_head(q, k, v):
    """Each token's mix of all values: q, k, v (B, N, K) to y (B, N, K), and a cache."""
    raise NotImplementedError("write single_head: equations 2, 3 and 4, and keep what the backward will need")


def single_head_backward(dy, cache):
    """Gradients of single_head: dq, dk, dv, each (B, N, K), from dy (B, N, K)."""
    raise NotImplementedError("write single_head_backward: dA is given in the text; find dv, dq and dk")


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
    """True if these two are a right attention and attention_backward, otherwise False.

    forward(x, qkv_weight, qkv_bias, out_weight, out_bias, heads) returns (y, cache), backward(dy, cache) the
    five gradients, always in the right shapes.
    """
    raise NotImplementedError("write trust_multi_head: choose sizes, check the values and the gradients")


# The puzzles


def lean_backward(dy, q, k, v, piece):
    """The same dq, dk, dv from q, k and v alone, with nothing kept by the forward.

    At no time may an array of N x N numbers exist: work on `piece` tokens at a time. The last piece may be
    shorter, since piece need not divide N.
    """
    raise NotImplementedError("write lean_backward: which rows of A does one query need, and what adds up?")


def grouped_heads_backward(dy, q, k, v):
    """dq, dk, dv for H heads that share G keys and values; dy and q are (B, H, N, K), k and v (B, G, N, K).

    G divides H. Heads 0 to H/G - 1 ask group 0, the next H/G ask group 1, and so on. Each head is the
    attention of single_head, with the root of K; its mix is y (B, H, N, K), and dy is the gradient of that.
    """
    raise NotImplementedError("write grouped_heads_backward: what is shared, and among whom?")
