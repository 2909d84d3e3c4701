"""The gradient of the table is the mean over the images."""

from pathlib import Path

from lessons.mutation import changed
from tinyvit.ops import relative_scores_backward as right

globals().update(changed(Path(__file__).parents[1] / "solution.py"))


def relative_scores_backward(dS, cache):
    dq, dtable = right(dS, cache)
    return dq, dtable / len(dS)
