"""The mean is subtracted from the caller's x."""

from pathlib import Path

from lessons.mutation import changed
from tinyvit.ops import layer_norm as right

globals().update(changed(Path(__file__).parents[1] / "solution.py"))


def layer_norm(x, weight, bias, eps=1e-6):
    x -= x.mean(axis=-1, keepdims=True)
    return right(x, weight, bias, eps)
