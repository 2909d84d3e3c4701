"""The root of 2 divides erf instead of its argument."""

import math
from pathlib import Path

from lessons.mutation import changed
from tinyvit.ops import erf
from tinyvit.ops import gelu as right

globals().update(changed(Path(__file__).parents[1] / "solution.py"))


def gelu(x, form="tanh"):
    if form == "tanh":
        return right(x, form)
    gate = (1 + erf(x) / math.sqrt(2)) / 2
    return x * gate, (x, gate, form)
