"""255 is taken for the end of eight steps: all eighths but the first begin too early."""

from pathlib import Path

import numpy as np

from lessons.mutation import changed

globals().update(changed(Path(__file__).parents[1] / "solution.py"))


def colour_classes(means):
    return (np.minimum(means / 255 * 8, 7).astype(np.int64) * [64, 8, 1]).sum(axis=-1)
