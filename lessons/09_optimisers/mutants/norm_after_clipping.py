"""The norm that is returned is that after clipping, and not the one before."""

from pathlib import Path

import numpy as np

from lessons.mutation import changed

globals().update(changed(Path(__file__).parents[1] / "solution.py"))
right = globals()["clip_norm"]


def clip_norm(g, largest):
    clipped, _ = right(g, largest)
    return clipped, float(np.linalg.norm(clipped))
