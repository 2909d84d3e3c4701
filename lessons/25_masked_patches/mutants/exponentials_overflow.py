"""The exponentials of the scores are taken as they are."""

from pathlib import Path

import numpy as np

from lessons.mutation import changed

globals().update(changed(Path(__file__).parents[1] / "solution.py"))


def masked_loss(logits, colours, chosen):
    images = np.arange(len(logits))[:, None]
    e = np.exp(logits[images, chosen])
    p = e / e.sum(axis=2, keepdims=True)
    right = colours[images, chosen][:, :, None]
    loss = -np.log(np.take_along_axis(p, right, axis=2)).mean()
    dlogits = np.zeros_like(logits)
    dlogits[images, chosen] = (p - (np.arange(logits.shape[2]) == right)) / chosen.size
    return loss, dlogits
