"""The gradients of a unit replace what was in grads, instead of being added."""

from pathlib import Path

from lessons.mutation import changed
from tinyvit.model.resnet import unit_backward as right

globals().update(changed(Path(__file__).parents[1] / "solution.py"))


def unit_backward(i, j, dy, cache, grads):
    own = grads.zeros_like()
    dx = right(i, j, dy, cache, own)
    for name in grads:
        if name.startswith(f"resnet.{i}.{j}."):
            grads[name] = own[name]
    return dx
