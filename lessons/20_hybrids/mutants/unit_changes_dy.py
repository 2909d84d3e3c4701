"""The backward of a unit works in the dy that it was given."""

from pathlib import Path

from lessons.mutation import changed
from tinyvit.model.resnet import unit_backward as right

globals().update(changed(Path(__file__).parents[1] / "solution.py"))


def unit_backward(i, j, dy, cache, grads):
    dx = right(i, j, dy, cache, grads)
    dy *= cache.relu3
    return dx
