"""The kernel is standardised over all four axes, not each output channel by itself."""

from pathlib import Path

import numpy as np

from lessons.mutation import changed
from tinyvit.ops import weight_standardisation as forward

globals().update(changed(Path(__file__).parents[1] / "solution.py"))


def weight_standardisation(w, eps=1e-5):
    flat = w.reshape(-1, 1, 1, 1).transpose(3, 1, 2, 0).T  # one channel with all the weights
    y, (_, *factors) = forward(flat, eps)
    return y.reshape(w.shape), (y.reshape(w.shape), *(np.repeat(f, w.shape[-1]) for f in factors))
