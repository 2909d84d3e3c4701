"""The zeros into which dS is written are float64, and so is dq."""

from pathlib import Path

import numpy as np

from lessons.mutation import changed
from tinyvit.ops import relative_scores_backward as right

globals().update(changed(Path(__file__).parents[1] / "solution.py"))


def relative_scores_backward(dS, cache):
    dq, dtable = right(dS.astype(np.float64), cache)
    return dq, dtable
