"""The gate is multiplied into x itself."""

from pathlib import Path

from lessons.mutation import changed
from tinyvit.ops import gelu as right

globals().update(changed(Path(__file__).parents[1] / "solution.py"))


def gelu(x, form="tanh"):
    y, (_, gate, _) = right(x, form)
    cache = (x.copy(), gate, form)
    x[...] = y
    return x, cache
