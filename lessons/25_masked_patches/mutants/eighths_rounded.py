"""Each channel is rounded to the nearest of eight levels, not cut into eighths."""

from pathlib import Path

import numpy as np

from lessons.mutation import changed

globals().update(changed(Path(__file__).parents[1] / "solution.py"))


def colour_classes(means):
    return (np.rint(np.clip(means / 32, 0, 7)).astype(np.int64) * [64, 8, 1]).sum(axis=-1)
