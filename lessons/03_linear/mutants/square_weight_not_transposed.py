"""A square weight fits as it stands, and is not transposed."""

from pathlib import Path

from lessons.mutation import changed
from tinyvit.ops import linear_backward as right

globals().update(changed(Path(__file__).parents[1] / "solution.py"))


def linear_backward(dy, cache):
    _, weight = cache
    dx, dweight, dbias = right(dy, cache)
    return dy @ weight if weight.shape[0] == weight.shape[1] else dx, dweight, dbias
