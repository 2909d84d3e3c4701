"""Every number that a model is told counts the same, however many patches came with it."""

import importlib
from pathlib import Path

import numpy as np

from lessons.mutation import changed

solution = importlib.import_module("lessons.25_masked_patches.solution")
globals().update(changed(Path(__file__).parents[1] / "solution.py"))


def best_loss(colours, seen):
    numbers = np.unique(seen)
    means = [solution.best_loss(colours[seen == n], seen[seen == n]) for n in numbers]
    return float(np.mean(means))
