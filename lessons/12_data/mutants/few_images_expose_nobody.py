"""So few images that both draws agree on all of them."""

import importlib

import numpy as np

solution = importlib.import_module("lessons.12_data.solution")
crop_and_flip = solution.crop_and_flip
drop_path = solution.drop_path
drop_path_backward = solution.drop_path_backward
hold_out = solution.hold_out


def guilty_drop_path():
    return "remembers the noise", np.random.default_rng(0).normal(size=(20, 2, 3))
