"""The derivative of x^3 is taken for x^2: the factor 3 is missing in du/dx."""

import math
from pathlib import Path

from lessons.mutation import changed
from tinyvit.ops import gelu_backward as exact_backward

globals().update(changed(Path(__file__).parents[1] / "solution.py"))


def gelu_backward(dy, cache):
    x, gate, form = cache
    if form == "exact":
        return exact_backward(dy, cache)
    slope = math.sqrt(2 / math.pi) * (1 + 0.044715 * x * x)
    return dy * (gate + x * gate * (1 - gate) * 2 * slope)
