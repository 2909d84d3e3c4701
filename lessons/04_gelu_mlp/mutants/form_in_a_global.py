"""The form is kept in a global, so a second forward with the other form overwrites it."""

from pathlib import Path

from lessons.mutation import changed
from tinyvit.ops import gelu as forward
from tinyvit.ops import gelu_backward as backward

globals().update(changed(Path(__file__).parents[1] / "solution.py"))


_KEPT = {}


def gelu(x, form="tanh"):
    y, (x, gate, _KEPT["form"]) = forward(x, form)
    return y, (x, gate)


def gelu_backward(dy, cache):
    return backward(dy, (*cache, _KEPT["form"]))
