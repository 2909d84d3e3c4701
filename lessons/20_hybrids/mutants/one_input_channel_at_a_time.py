"""Mean and deviation are taken over the window alone, for each input channel by itself."""

from pathlib import Path

import numpy as np

from lessons.mutation import changed

globals().update(changed(Path(__file__).parents[1] / "solution.py"))


def weight_standardisation(w, eps=1e-5):
    c = w - w.mean(axis=(0, 1))
    s = np.sqrt((c * c).mean(axis=(0, 1)))
    y, r = c / (s + eps), 1 / (s.mean(axis=0) + eps)
    return y, (y, r, np.ones_like(r))
