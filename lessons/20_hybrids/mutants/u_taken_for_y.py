"""In the gradient of weight standardisation, y stands where c / s belongs."""

from pathlib import Path

from lessons.mutation import changed

globals().update(changed(Path(__file__).parents[1] / "solution.py"))


def weight_standardisation_backward(dy, cache):
    y, r, _ = cache
    axes = (0, 1, 2)
    return (dy - dy.mean(axis=axes) - y * (dy * y).mean(axis=axes)) * r
