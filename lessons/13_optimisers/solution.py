"""The schedule is the library's own; AdamW and clipping, done there in place, are written out."""

import math

import numpy as np

from tinyvit.optim import learning_rate

__all__ = ["adamw_step", "clip_norm", "learning_rate"]


def adamw_step(w, g, m, v, lr, step, betas=(0.9, 0.999), eps=1e-8, weight_decay=0.0):
    """One AdamW update: new arrays w, m, v, shaped as they were."""
    b1, b2 = betas
    w = w - lr * weight_decay * w  # eq. adam 5
    m = b1 * m + (1 - b1) * g  # eq. adam 1
    v = b2 * v + (1 - b2) * g * g  # eq. adam 2
    m_hat = m / (1 - b1**step)  # eq. adam 3
    v_hat = v / (1 - b2**step)
    return w - lr * m_hat / (np.sqrt(v_hat) + eps), m, v  # eq. adam 4


def clip_norm(g, largest):
    """g scaled down to the norm `largest` if it is longer, and the norm it had."""
    norm = math.sqrt((g * g).sum())
    return (g * (largest / norm) if norm > largest else g.copy()), norm  # eq. clip 1, and no division by 0
