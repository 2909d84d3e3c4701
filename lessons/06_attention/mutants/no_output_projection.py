"""The heads are joined and returned as they are."""

from pathlib import Path

import numpy as np

from lessons.mutation import changed
from tinyvit.ops import attention as right
from tinyvit.ops import attention_backward as right_backward

globals().update(changed(Path(__file__).parents[1] / "solution.py"))


def attention(x, qkv_weight, qkv_bias, out_weight, out_bias, heads):
    return right(x, qkv_weight, qkv_bias, np.eye(x.shape[-1], dtype=x.dtype), out_bias * 0, heads)


def attention_backward(dy, cache):
    dx, dweight, dbias, dout_weight, dout_bias = right_backward(dy, cache)
    return dx, dweight, dbias, dout_weight * 0, dout_bias * 0
