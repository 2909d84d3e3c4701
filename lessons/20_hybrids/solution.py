"""The library's own functions are the model answers; the puzzle is written out here."""

from tinyvit.ops import group_norm_backward, weight_standardisation, weight_standardisation_backward

__all__ = ["group_norm_backward", "pixels_seen", "weight_standardisation", "weight_standardisation_backward"]


def pixels_seen(resnet):
    """Each k x k window reaches k - 1 steps further, and a step is as wide as all strides before it."""
    side, step = 1, 1
    for k, stride in _windows(resnet):
        side += (k - 1) * step
        step *= stride
    return side


def _windows(resnet):
    """The window and the stride of the root, the pool, and the 3 x 3 convolution of each unit."""
    yield from ((7, 2), (3, 2))
    for i, units in enumerate(resnet):
        for j in range(units):
            yield 3, 2 if i and j == 0 else 1
