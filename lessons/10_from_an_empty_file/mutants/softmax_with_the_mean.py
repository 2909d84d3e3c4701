"""Softmax's backward subtracts the plain mean of dy."""

from pathlib import Path

from lessons.mutation import changed

OPERATION = "attention"
SOLUTION = Path(__file__).parents[3] / "tinyvit/in_one_file.py"
RIGHT = "(dy - (dy * y).sum(axis=-1, keepdims=True))"
WRONG = "(dy - dy.mean(axis=-1, keepdims=True))"
globals().update(changed(SOLUTION, (RIGHT, WRONG)))
