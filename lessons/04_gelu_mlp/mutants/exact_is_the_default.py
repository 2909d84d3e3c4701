"""Without a form, it is the exact one."""

from pathlib import Path

from lessons.mutation import changed
from tinyvit.ops import gelu as right

globals().update(changed(Path(__file__).parents[1] / "solution.py"))


def gelu(x, form="exact"):
    return right(x, form)
