"""The gradient of the table is summed over the positions, and every place gets the same."""

from pathlib import Path

import numpy as np

from lessons.mutation import changed

globals().update(changed(Path(__file__).parents[1] / "solution.py"))


def position_embedding_backward(dy, cache):
    return dy, np.broadcast_to(dy.sum(axis=(0, 1)), dy.shape[1:])
