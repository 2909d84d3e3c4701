"""unbroadcast looks for an axis of each length, and takes the first of two that are equally long."""

from pathlib import Path

from lessons.mutation import changed

globals().update(changed(Path(__file__).parents[1] / "solution.py"))


def unbroadcast(dy, shape):
    kept = []
    for length in shape:
        fits = [axis for axis in range(dy.ndim) if dy.shape[axis] == length != 1 and axis not in kept]
        kept += fits[:1]
    return dy.sum(axis=tuple(axis for axis in range(dy.ndim) if axis not in kept)).reshape(shape)
