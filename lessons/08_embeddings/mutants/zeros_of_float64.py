"""The row of tokens is collected in np.zeros without a dtype, which is float64."""

import numpy as np

from tinyvit.ops import class_token_backward, position_embedding_backward

__all__ = ["class_token", "class_token_backward", "position_embedding_backward"]


def class_token(x, token):
    B, T, D = x.shape
    y = np.zeros((B, T + 1, D))
    y[:, 0], y[:, 1:] = token, x
    return y, None
