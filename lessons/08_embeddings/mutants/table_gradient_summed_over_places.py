"""The gradient of the table is summed over the places, and every place gets the same."""

import numpy as np

from tinyvit.ops import class_token, class_token_backward

__all__ = ["class_token", "class_token_backward", "position_embedding_backward"]


def position_embedding_backward(dy, cache):
    return dy, np.broadcast_to(dy.sum(axis=(0, 1)), dy.shape[1:])
