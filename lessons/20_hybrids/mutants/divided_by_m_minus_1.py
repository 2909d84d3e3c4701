"""The variance of a channel's weights divides by m - 1."""

from pathlib import Path

import numpy as np

from lessons.mutation import changed

globals().update(changed(Path(__file__).parents[1] / "solution.py"))


def weight_standardisation(w, eps=1e-5):
    m = w[..., 0].size
    c = w - w.mean(axis=(0, 1, 2))
    s = np.sqrt((c * c).sum(axis=(0, 1, 2)) / max(m - 1, 1))
    y = c / (s + eps)
    return y, (y, 1 / (s + eps), (s + eps) / (s + (s == 0)))
