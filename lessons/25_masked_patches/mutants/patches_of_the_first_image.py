"""A position that shows another patch shows that of the first image."""

from pathlib import Path

import numpy as np

from lessons.mutation import changed
from tinyvit.ops.corruption import MASKED

globals().update(changed(Path(__file__).parents[1] / "solution.py"))


def corrupt(x, mask_token, source):
    y = np.where((source == MASKED)[:, :, None], mask_token, x[0][source])
    own = (source == np.arange(x.shape[1]))[:, :, None]
    return np.where(own, x, y), source
