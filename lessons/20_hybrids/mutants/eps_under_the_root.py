"""Weight standardisation adds eps to the variance, as LayerNorm does."""

from pathlib import Path

import numpy as np

from lessons.mutation import changed
from tinyvit.ops import weight_standardisation as forward

globals().update(changed(Path(__file__).parents[1] / "solution.py"))


def weight_standardisation(w, eps=1e-5):
    c = w - w.mean(axis=(0, 1, 2))
    variance = (c * c).mean(axis=(0, 1, 2))
    _, cache = forward(w, eps)
    return c / np.sqrt(variance + eps), cache
