"""The skip connection gets dy, which has not passed the last ReLU."""

from pathlib import Path

from lessons.mutation import changed
from tinyvit.model.resnet import unit_backward as right
from tinyvit.ops import relu_backward

globals().update(changed(Path(__file__).parents[1] / "solution.py"))


def unit_backward(i, j, dy, cache, grads):
    dx = right(i, j, dy, cache, grads)
    return dx if cache.proj else dx + dy - relu_backward(dy, cache.relu3)
