"""The backward cuts the gradient of o into two heads, however many there are."""

from pathlib import Path

from lessons.mutation import changed
from tinyvit.ops import attention as right
from tinyvit.ops import attention_backward as right_backward

globals().update(changed(Path(__file__).parents[1] / "solution.py"))


def attention(x, qkv_weight, qkv_bias, out_weight, out_bias, heads):
    y, _ = right(x, qkv_weight, qkv_bias, out_weight, out_bias, heads)
    _, other = right(x, qkv_weight, qkv_bias, out_weight, out_bias, min(2, heads))
    return y, other


def attention_backward(dy, cache):
    return right_backward(dy, cache)
