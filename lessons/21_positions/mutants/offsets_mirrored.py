"""Query i gives key j the vector of offset j - i: left and right are exchanged."""

from pathlib import Path

from lessons.mutation import changed
from tinyvit.ops import relative_scores as right
from tinyvit.ops import relative_scores_backward as right_backward

globals().update(changed(Path(__file__).parents[1] / "solution.py"))


def relative_scores(q, table):
    return right(q, table[::-1])


def relative_scores_backward(dS, cache):
    dq, dtable = right_backward(dS, cache)
    return dq, dtable[::-1].copy()
