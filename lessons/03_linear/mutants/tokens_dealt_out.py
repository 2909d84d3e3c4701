"""The tokens become rows by a reshape to (I, R) and a transpose, which deals their numbers out again."""

from pathlib import Path

from lessons.mutation import changed
from tinyvit.ops import linear as right

globals().update(changed(Path(__file__).parents[1] / "solution.py"))


def linear(x, weight, bias):
    y, cache = right(x.reshape(x.shape[-1], -1).T, weight, bias)
    return y.reshape(*x.shape[:-1], -1), cache
