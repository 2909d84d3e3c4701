"""Two calls are compared with each other, none with the whole batch."""

import importlib

import numpy as np

from tinyvit.checking import random_params
from tinyvit.model import ViTConfig

solution = importlib.import_module("lessons.26_threads.solution")
gradients_on_threads = solution.gradients_on_threads
gradients_for_any_threads = solution.gradients_for_any_threads


def trust_gradients(gradients):
    config = ViTConfig(8, 4, 6, 7, 2, 1, classes=3)
    rng = np.random.default_rng(0)
    params = random_params(config, rng, "float32")
    images, labels = rng.normal(size=(9, 8, 8, 3)).astype("float32"), rng.integers(0, 3, 9)
    results = [gradients(config, params, images.copy(), labels, 4, 2)[1].flat.copy() for _ in range(2)]
    return bool(np.array_equal(*results))
