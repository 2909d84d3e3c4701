"""The sum over the chosen patches is divided by the number of all patches."""

import importlib
from pathlib import Path

from lessons.mutation import changed

solution = importlib.import_module("lessons.25_masked_patches.solution")
globals().update(changed(Path(__file__).parents[1] / "solution.py"))


def masked_loss(logits, colours, chosen):
    loss, dlogits = solution.masked_loss(logits, colours, chosen)
    share = chosen.shape[1] / logits.shape[1]
    return loss * share, dlogits * share
