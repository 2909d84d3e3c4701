"""The gradients of the projection's parameters are thrown away."""

from pathlib import Path

from lessons.mutation import changed
from tinyvit.model.resnet import unit_backward as right

globals().update(changed(Path(__file__).parents[1] / "solution.py"))


def unit_backward(i, j, dy, cache, grads):
    own = grads.zeros_like()
    dx = right(i, j, dy, cache, own)
    for name in grads:
        if "_proj" not in name:
            grads[name] = grads[name] + own[name]
    return dx
