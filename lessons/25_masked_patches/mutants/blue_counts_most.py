"""Blue counts 64 and red counts 1."""

from pathlib import Path

import numpy as np

from lessons.mutation import changed

globals().update(changed(Path(__file__).parents[1] / "solution.py"))


def colour_classes(means):
    return (means // 32).astype(np.int64) @ np.array([1, 8, 64])
