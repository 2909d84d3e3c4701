"""The exponent is divided by F instead of F - 1, so that the lowest frequency is never reached."""

from pathlib import Path

import numpy as np

from lessons.mutation import changed

globals().update(changed(Path(__file__).parents[1] / "solution.py"))


def positions_sincos(grid, width):
    F = width // 4
    w = 10_000.0 ** (-np.arange(F) / F)
    r, c = (place.reshape(-1, 1) * w for place in np.indices(grid))
    return np.concatenate([np.sin(c), np.cos(c), np.sin(r), np.cos(r)], axis=1)
