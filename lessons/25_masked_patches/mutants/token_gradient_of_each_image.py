"""The token's gradient keeps the axis of images."""

from pathlib import Path

from lessons.mutation import changed
from tinyvit.ops import corrupt_backward as right
from tinyvit.ops.corruption import MASKED

globals().update(changed(Path(__file__).parents[1] / "solution.py"))


def corrupt_backward(dy, cache):
    return right(dy, cache)[0], (dy * (cache == MASKED)[:, :, None]).sum(axis=1)
