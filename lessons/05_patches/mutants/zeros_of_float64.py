"""The row of tokens is collected in np.zeros without a dtype, which is float64."""

from pathlib import Path

import numpy as np

from lessons.mutation import changed

globals().update(changed(Path(__file__).parents[1] / "solution.py"))


def class_token(x, token):
    B, T, D = x.shape
    y = np.zeros((B, T + 1, D))
    y[:, 0], y[:, 1:] = token, x
    return y, None
