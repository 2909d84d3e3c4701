"""The schedule is the library's own; AdamW and clipping, done there in place, are written out."""

import math

import numpy as np

from tinyvit.optim import learning_rate

__all__ = ["adamw_step", "clip_norm", "largest_rate", "learning_rate", "trust_adamw"]


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


def trust_adamw(adamw_step):
    """Two steps by hand, with unusual numbers for every argument, and a look at what was handed over."""
    w, m, v = 2.0, 0.0, 0.0
    given = np.array([[w]]), np.array([[m]]), np.array([[v]])
    for step, g in ((1, 3.0), (2, -0.5)):
        before = [array.copy() for array in given]
        new = adamw_step(given[0], np.array([[g]]), *given[1:], 0.2, step, (0.6, 0.8), 0.3, 0.7)
        m, v = 0.6 * m + 0.4 * g, 0.8 * v + 0.2 * g * g
        w -= 0.2 * 0.7 * w
        w -= 0.2 * (m / (1 - 0.6**step)) / (math.sqrt(v / (1 - 0.8**step)) + 0.3)
        if not np.allclose(np.ravel(new), [w, m, v], rtol=1e-9):
            return False
        if not all(np.array_equal(old, now) for old, now in zip(before, given, strict=True)):
            return False
        given = new
    return True


# The puzzle


def largest_rate(steepness, momentum):
    """At the border w and m flip their signs at every step: m = -momentum m + steepness w, lr m = 2 w."""
    return 2 * (1 + momentum) / steepness
