"""The scores are divided by the root of D instead of K."""

import math
from pathlib import Path

import numpy as np

from lessons.mutation import changed
from tinyvit.ops import attention as right
from tinyvit.ops import attention_backward as right_backward

globals().update(changed(Path(__file__).parents[1] / "solution.py"))


def attention(x, qkv_weight, qkv_bias, out_weight, out_bias, heads):
    D = x.shape[-1]
    scale = np.ones(3 * D, x.dtype)
    scale[:D] = 1 / math.sqrt(heads)
    y, cache = right(x, qkv_weight * scale, qkv_bias * scale, out_weight, out_bias, heads)
    return y, (cache, scale)


def attention_backward(dy, cache):
    cache, scale = cache
    dx, dweight, dbias, *others = right_backward(dy, cache)
    return dx, dweight * scale, dbias * scale, *others
