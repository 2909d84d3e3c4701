"""The gradient of the table is the mean over the images."""

from pathlib import Path

from lessons.mutation import changed

globals().update(changed(Path(__file__).parents[1] / "solution.py"))


def position_embedding_backward(dy, cache):
    return dy, dy.mean(axis=0)
