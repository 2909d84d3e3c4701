"""Three ways to carry the gradient of 2 x 2 patches back to the pixels. One of them is wrong on some images.

SUSPECTS gives for each name the forward, which is the same for all three, and the backward. forward(images)
returns (patches, cache), and backward(dy, cache) a tuple with the gradient of the images.
"""

import numpy as np

from tinyvit.ops import patchify

PATCH = 2


def forward(images):
    return patchify(images, PATCH)[0], images.shape


def patch_by_patch(dy, shape):
    dx = np.empty(shape, dy.dtype)
    columns = shape[2] // PATCH
    for number in range(dy.shape[1]):
        row, column = divmod(number, columns)
        top, left = PATCH * row, PATCH * column
        block = dy[:, number].reshape(-1, PATCH, PATCH, shape[3])
        dx[:, top : top + PATCH, left : left + PATCH] = block
    return (dx,)


def strip_by_strip(dy, shape):
    blocks = dy.reshape(shape[0], -1, PATCH, PATCH * shape[3])
    length = shape[1] // PATCH
    strips = [
        np.concatenate(list(blocks[:, start : start + length].swapaxes(0, 1)), axis=-1)
        for start in range(0, blocks.shape[1], length)
    ]
    return (np.stack(strips, axis=1).reshape(shape),)


def by_a_table(dy, shape):
    numbers = np.arange(np.prod(shape[1:])).reshape(1, *shape[1:])
    table = patchify(numbers, PATCH)[0].ravel()
    dx = np.empty((shape[0], table.size), dy.dtype)
    dx[:, table] = dy.reshape(shape[0], -1)
    return (dx.reshape(shape),)


SUSPECTS = {
    "patch by patch": (forward, patch_by_patch),
    "strip by strip": (forward, strip_by_strip),
    "by a table": (forward, by_a_table),
}
