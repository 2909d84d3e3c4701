"""The gate is written exp(2u) / (1 + exp(2u)), which is inf / inf for large x."""

import math
from pathlib import Path

import numpy as np

from lessons.mutation import changed
from tinyvit.ops import gelu as right

globals().update(changed(Path(__file__).parents[1] / "solution.py"))


def gelu(x, form="tanh"):
    if form == "exact":
        return right(x, form)
    e = np.exp(2 * math.sqrt(2 / math.pi) * (x + 0.044715 * x**3))
    gate = e / (1 + e)
    return x * gate, (x, gate, form)
