"""The backward gives dy the shape of the images, and leaves the numbers where they are."""

from pathlib import Path

from lessons.mutation import changed

globals().update(changed(Path(__file__).parents[1] / "solution.py"))


def patchify_backward(dy, cache):
    shape, _ = cache
    return dy.reshape(shape)
