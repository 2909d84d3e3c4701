"""The token is put behind the patches instead of before them."""

import numpy as np

from tinyvit.ops import position_embedding_backward

__all__ = ["class_token", "class_token_backward", "position_embedding_backward"]


def class_token(x, token):
    return np.concatenate([x, np.broadcast_to(token, (len(x), 1, len(token)))], axis=1), None


def class_token_backward(dy, cache):
    return dy[:, :-1], dy[:, -1].sum(axis=0)
