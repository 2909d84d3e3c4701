"""The gradient is divided by the patches of an image, but not by the number of images."""

import importlib
from pathlib import Path

from lessons.mutation import changed

solution = importlib.import_module("lessons.25_masked_patches.solution")
globals().update(changed(Path(__file__).parents[1] / "solution.py"))


def masked_loss(logits, colours, chosen):
    loss, dlogits = solution.masked_loss(logits, colours, chosen)
    return loss, dlogits * len(logits)
