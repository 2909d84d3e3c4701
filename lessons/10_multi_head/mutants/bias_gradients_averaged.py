"""The gradients of the biases are averaged over images and tokens instead of summed."""

from tinyvit.ops import attention
from tinyvit.ops import attention_backward as right_backward

__all__ = ["attention", "attention_backward", "split_heads"]


def split_heads(qkv, heads):
    B, N, columns = qkv.shape
    return tuple(qkv.reshape(B, N, 3, heads, columns // (3 * heads)).transpose(2, 0, 3, 1, 4))


def attention_backward(dy, cache):
    dx, dweight, dbias, dout_weight, dout_bias = right_backward(dy, cache)
    rows = dy.shape[0] * dy.shape[1]
    return dx, dweight, dbias / rows, dout_weight, dout_bias / rows
