"""The cosines are multiplied by log_scale itself: the exponential is missing."""

from pathlib import Path

import numpy as np

from lessons.mutation import changed
from tinyvit.ops import cross_entropy, cross_entropy_backward

globals().update(changed(Path(__file__).parents[1] / "solution.py"))


def softmax_pairs(images, texts, log_scale):
    scale, right = log_scale, np.arange(len(images))
    S = scale * (images @ texts.T)
    of_images, rows = cross_entropy(S, right)
    of_texts, columns = cross_entropy(S.T, right)
    dS = (cross_entropy_backward(rows) + cross_entropy_backward(columns).T) / 2
    return (of_images + of_texts) / 2, (
        scale * (dS @ texts),
        scale * (dS.T @ images),
        (dS * (images @ texts.T)).sum(),
    )
