"""The square image of the lesson is taken for the exposing one."""

from pathlib import Path

import numpy as np

from lessons.mutation import changed

globals().update(changed(Path(__file__).parents[1] / "solution.py"))


def guilty_patchify():
    return "strip by strip", np.random.default_rng(0).normal(size=(2, 4, 4, 3))
