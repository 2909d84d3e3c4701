"""The parameters are read in the order of the dict, whatever their names."""

import importlib

solution = importlib.import_module("lessons.11_block.solution")
block_backward, guilty_block = solution.block_backward, solution.guilty_block
post_norm_block = solution.post_norm_block
NAMES = solution.NORM1 + solution.ATTENTION + solution.NORM2 + solution.MLP


def block(x, params, heads):
    return solution.block(x, dict(zip(NAMES, params.values(), strict=True)), heads)
