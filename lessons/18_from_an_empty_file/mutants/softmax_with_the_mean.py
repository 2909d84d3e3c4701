"""Softmax's backward subtracts the plain mean of dy."""

from pathlib import Path

from lessons.mutation import changed

OPERATION = "attention"
SOLUTION = Path(__file__).parents[1] / "solution.py"
globals().update(
    changed(
        SOLUTION, ("(dy - (dy * y).sum(axis=-1, keepdims=True))", "(dy - dy.mean(axis=-1, keepdims=True))")
    )
)
