"""The loss is the mean over all patches, those that can simply be copied included."""

import importlib
from pathlib import Path

import numpy as np

from lessons.mutation import changed

solution = importlib.import_module("lessons.25_masked_patches.solution")
globals().update(changed(Path(__file__).parents[1] / "solution.py"))


def masked_loss(logits, colours, chosen):
    every = np.broadcast_to(np.arange(logits.shape[1]), logits.shape[:2])
    return solution.masked_loss(logits, colours, every)
