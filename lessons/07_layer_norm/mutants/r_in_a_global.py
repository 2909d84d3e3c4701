"""r is kept in a global, so a second forward overwrites it."""

from pathlib import Path

from lessons.mutation import changed
from tinyvit.ops import layer_norm as forward
from tinyvit.ops import layer_norm_backward as right

globals().update(changed(Path(__file__).parents[1] / "solution.py"))


_KEPT = {}


def layer_norm(x, weight, bias, eps=1e-6):
    y, (n, _KEPT["r"], weight) = forward(x, weight, bias, eps)
    return y, (n, weight)


def layer_norm_backward(dy, cache):
    n, weight = cache
    return right(dy, (n, _KEPT["r"], weight))
