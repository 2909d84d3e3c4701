"""The parameters are read in the order of the dict, whatever their names."""

import importlib

solution = importlib.import_module("lessons.08_vit.solution")
block_backward, forward, backward = solution.block_backward, solution.forward, solution.backward
trust_vit, post_norm_block = solution.trust_vit, solution.post_norm_block
pixel_gradient = solution.pixel_gradient


def block(x, params, heads):
    return solution.block(x, dict(zip(solution.BLOCK, params.values(), strict=True)), heads)
