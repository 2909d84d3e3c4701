"""The mask token is written into the array of the caller."""

from pathlib import Path

import numpy as np

from lessons.mutation import changed
from tinyvit.ops.corruption import MASKED

globals().update(changed(Path(__file__).parents[1] / "solution.py"))


def corrupt(x, mask_token, source):
    x[source == MASKED] = mask_token
    shown = np.where(source == MASKED, np.arange(x.shape[1]), source)
    return np.take_along_axis(x, shown[:, :, None], axis=1), source
