"""The form is ignored: it is always the tanh form."""

from pathlib import Path

from lessons.mutation import changed
from tinyvit.ops import gelu as right

globals().update(changed(Path(__file__).parents[1] / "solution.py"))


def gelu(x, form="tanh"):
    return right(x, "tanh")
