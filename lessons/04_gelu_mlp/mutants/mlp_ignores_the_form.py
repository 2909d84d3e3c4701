"""The MLP calls GELU without handing on the form."""

from pathlib import Path

from lessons.mutation import changed
from tinyvit.ops import mlp as right

globals().update(changed(Path(__file__).parents[1] / "solution.py"))


def mlp(x, weight1, bias1, weight2, bias2, gelu_form="tanh"):
    return right(x, weight1, bias1, weight2, bias2)
