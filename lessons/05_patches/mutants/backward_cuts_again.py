"""The backward applies the permutation once more instead of its inverse."""

from pathlib import Path

from lessons.mutation import changed
from tinyvit.ops import patchify

globals().update(changed(Path(__file__).parents[1] / "solution.py"))


def patchify_backward(dy, cache):
    shape, patch = cache
    return patchify(dy.reshape(shape), patch)[0].reshape(shape)
