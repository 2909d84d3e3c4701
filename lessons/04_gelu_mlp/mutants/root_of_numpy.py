"""np.sqrt(2 / np.pi) is a float64 number, and makes a float32 array float64."""

from pathlib import Path

import numpy as np

from lessons.mutation import changed
from tinyvit.ops import gelu as right

globals().update(changed(Path(__file__).parents[1] / "solution.py"))


def gelu(x, form="tanh"):
    if form == "exact":
        return right(x, form)
    gate = (1 + np.tanh(np.sqrt(2 / np.pi) * (x + 0.044715 * x**3))) / 2
    return x * gate, (x, gate, form)
