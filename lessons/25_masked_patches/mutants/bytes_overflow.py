"""The eighths of bytes are multiplied as bytes, and 5 * 64 is 64."""

from pathlib import Path

import numpy as np

from lessons.mutation import changed

globals().update(changed(Path(__file__).parents[1] / "solution.py"))


def colour_classes(means):
    levels = means // 32
    return (levels[..., 0] * 64 + levels[..., 1] * 8 + levels[..., 2]).astype(np.int64)
