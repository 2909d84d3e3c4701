"""The exponentials of the scores are taken as they are."""

from pathlib import Path

import numpy as np

from lessons.mutation import changed

globals().update(changed(Path(__file__).parents[1] / "solution.py"))


def softmax_pairs(images, texts, log_scale):
    scale, B = np.exp(log_scale), len(images)
    S = scale * (images @ texts.T)
    e = np.exp(S)
    P, Q = e / e.sum(axis=1, keepdims=True), e / e.sum(axis=0)
    loss = -(np.log(np.diagonal(P)) + np.log(np.diagonal(Q))).mean() / 2
    dS = ((P + Q) / 2 - np.eye(B, dtype=S.dtype)) / B
    return loss, (scale * (dS @ texts), scale * (dS.T @ images), (dS * S).sum())
