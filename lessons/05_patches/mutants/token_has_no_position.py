"""The table gets no gradient at position 0, as if the token had no position."""

from pathlib import Path

from lessons.mutation import changed

globals().update(changed(Path(__file__).parents[1] / "solution.py"))


def position_embedding_backward(dy, cache):
    dembedding = dy.sum(axis=0)
    dembedding[0] = 0
    return dy, dembedding
