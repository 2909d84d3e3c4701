"""unbroadcast compares the shapes from the left, where NumPy aligns them at the right."""

from pathlib import Path

from lessons.mutation import changed

globals().update(changed(Path(__file__).parents[1] / "solution.py"))


def unbroadcast(dy, shape):
    for axis, length in enumerate(shape):
        if length == 1:
            dy = dy.sum(axis=axis, keepdims=True)
    return dy.sum(axis=tuple(range(len(shape), dy.ndim)))
