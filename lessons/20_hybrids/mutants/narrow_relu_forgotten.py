"""The ReLU between the 3 x 3 convolution and the last one is skipped on the way back."""

from pathlib import Path

import numpy as np

from lessons.mutation import changed
from tinyvit.model.resnet import unit_backward as right

globals().update(changed(Path(__file__).parents[1] / "solution.py"))


def unit_backward(i, j, dy, cache, grads):
    return right(i, j, dy, cache._replace(relu2=np.ones_like(cache.relu2)), grads)
