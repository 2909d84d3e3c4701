"""unbroadcast sums over the missing axes on the left, and forgets those of length 1."""

from pathlib import Path

from lessons.mutation import changed

globals().update(changed(Path(__file__).parents[1] / "solution.py"))


def unbroadcast(dy, shape):
    return dy.sum(axis=tuple(range(dy.ndim - len(shape))))
