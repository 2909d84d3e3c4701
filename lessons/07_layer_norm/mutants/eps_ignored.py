"""The eps that is given is ignored: it is always 1e-6."""

from pathlib import Path

from lessons.mutation import changed
from tinyvit.ops import layer_norm as right

globals().update(changed(Path(__file__).parents[1] / "solution.py"))


def layer_norm(x, weight, bias, eps=1e-6):
    return right(x, weight, bias)
