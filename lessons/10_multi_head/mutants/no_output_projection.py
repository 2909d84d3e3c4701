"""The heads are joined and returned as they are."""

import numpy as np

from tinyvit.ops import attention as right
from tinyvit.ops import attention_backward as right_backward


def split_heads(qkv, heads):
    B, N, columns = qkv.shape
    return tuple(qkv.reshape(B, N, 3, heads, columns // (3 * heads)).transpose(2, 0, 3, 1, 4))


def attention(x, qkv_weight, qkv_bias, out_weight, out_bias, heads):
    return right(x, qkv_weight, qkv_bias, np.eye(x.shape[-1], dtype=x.dtype), out_bias * 0, heads)


def attention_backward(dy, cache):
    dx, dweight, dbias, dout_weight, dout_bias = right_backward(dy, cache)
    return dx, dweight, dbias, dout_weight * 0, dout_bias * 0
