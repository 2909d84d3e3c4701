"""Each head gets its own slice of the token: as if most of qkv_weight were zero."""

from pathlib import Path

import numpy as np

from lessons.mutation import changed
from tinyvit.ops import attention as right
from tinyvit.ops import attention_backward as right_backward

globals().update(changed(Path(__file__).parents[1] / "solution.py"))


def attention(x, qkv_weight, qkv_bias, out_weight, out_bias, heads):
    D = x.shape[-1]
    K = D // heads
    own = np.zeros((D, 3, heads, K), x.dtype)
    for h in range(heads):
        own[h * K : (h + 1) * K, :, h] = 1
    own = own.reshape(D, 3 * D)
    y, cache = right(x, qkv_weight * own, qkv_bias, out_weight, out_bias, heads)
    return y, (cache, own)


def attention_backward(dy, cache):
    cache, own = cache
    dx, dweight, *others = right_backward(dy, cache)
    return dx, dweight * own, *others
