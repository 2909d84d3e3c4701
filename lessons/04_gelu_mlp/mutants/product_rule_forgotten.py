"""The gate is treated as a constant: dy times the gate."""

from pathlib import Path

from lessons.mutation import changed

globals().update(changed(Path(__file__).parents[1] / "solution.py"))


def gelu_backward(dy, cache):
    _, gate, _ = cache
    return dy * gate
