"""Differences of neighbours, with the first byte of every row taken for 0."""

import importlib

import numpy as np

mean_colours = importlib.import_module("lessons.00_setup.solution").mean_colours


def bytes_from_sums(sums):
    return np.concatenate([np.zeros_like(sums[:, :1]), np.diff(sums, axis=1)], axis=1)
