"""The token is put behind the patches instead of before them."""

from pathlib import Path

import numpy as np

from lessons.mutation import changed

globals().update(changed(Path(__file__).parents[1] / "solution.py"))


def class_token(x, token):
    return np.concatenate([x, np.broadcast_to(token, (len(x), 1, len(token)))], axis=1), None


def class_token_backward(dy, cache):
    return dy[:, :-1], dy[:, -1].sum(axis=0)
