"""The corrected m and v are carried to the next step, so that they are corrected again and again."""

import importlib

import numpy as np

solution = importlib.import_module("lessons.09_optimisers.solution")
clip_norm, learning_rate = solution.clip_norm, solution.learning_rate
trust_adamw, largest_rate = solution.trust_adamw, solution.largest_rate


def adamw_step(w, g, m, v, lr, step, betas=(0.9, 0.999), eps=1e-8, weight_decay=0.0):
    b1, b2 = betas
    m = (b1 * m + (1 - b1) * g) / (1 - b1**step)
    v = (b2 * v + (1 - b2) * g * g) / (1 - b2**step)
    return (1 - lr * weight_decay) * w - lr * m / (np.sqrt(v) + eps), m, v
