"""The pixels' gradient is that of the patch to the left."""

import importlib

import numpy as np

solution = importlib.import_module("lessons.12_vit.solution")
parameter_count, forward, backward = solution.parameter_count, solution.forward, solution.backward
trust_vit = solution.trust_vit


def pixel_gradient(config, params, images, dlogits):
    return np.roll(solution.pixel_gradient(config, params, images, dlogits), config.patch_size, axis=2)
