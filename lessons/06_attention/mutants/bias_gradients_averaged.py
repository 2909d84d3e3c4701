"""The gradients of the biases are averaged over images and tokens instead of summed."""

from pathlib import Path

from lessons.mutation import changed
from tinyvit.ops import attention_backward as right_backward

globals().update(changed(Path(__file__).parents[1] / "solution.py"))


def attention_backward(dy, cache):
    dx, dweight, dbias, dout_weight, dout_bias = right_backward(dy, cache)
    rows = dy.shape[0] * dy.shape[1]
    return dx, dweight, dbias / rows, dout_weight, dout_bias / rows
