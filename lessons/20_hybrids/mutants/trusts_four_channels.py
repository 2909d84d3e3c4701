"""The check looks at two groups of two channels."""

from pathlib import Path

import numpy as np

from lessons.mutation import changed
from tinyvit.checking import check_gradients

globals().update(changed(Path(__file__).parents[1] / "solution.py"))


def trust_group_norm(forward, backward):
    rng = np.random.default_rng(0)
    inputs = rng.normal(3, 2, (3, 2, 5, 4)), rng.normal(1, 0.5, 4), rng.normal(size=4)
    errors = check_gradients(lambda *a: forward(*a, groups=2, eps=0.5), backward, inputs, rng)
    return max(errors) < 1e-6
