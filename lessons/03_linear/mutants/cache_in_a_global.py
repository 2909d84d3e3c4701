"""What the backward needs is kept in a global, so a second forward overwrites it."""

from pathlib import Path

from lessons.mutation import changed
from tinyvit.ops import linear as forward
from tinyvit.ops import linear_backward as right

globals().update(changed(Path(__file__).parents[1] / "solution.py"))


_KEPT = {}


def linear(x, weight, bias):
    y, _KEPT["cache"] = forward(x, weight, bias)
    return y, None


def linear_backward(dy, cache):
    return right(dy, _KEPT["cache"])
