"""The path through the mean of the kernel is left out."""

from pathlib import Path

from lessons.mutation import changed
from tinyvit.ops import weight_standardisation_backward as right

globals().update(changed(Path(__file__).parents[1] / "solution.py"))


def weight_standardisation_backward(dy, cache):
    return right(dy, cache) + dy.mean(axis=(0, 1, 2)) * cache[1]
