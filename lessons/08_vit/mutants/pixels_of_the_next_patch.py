"""The pixels' gradient is that of the patch to the left."""

import importlib

import numpy as np

solution = importlib.import_module("lessons.08_vit.solution")
block, block_backward = solution.block, solution.block_backward
forward, backward, trust_vit = solution.forward, solution.backward, solution.trust_vit
post_norm_block = solution.post_norm_block


def pixel_gradient(config, params, images, dlogits):
    return np.roll(solution.pixel_gradient(config, params, images, dlogits), config.patch_size, axis=2)
