"""The check never gives betas, eps or a decay of its own."""

import importlib

import numpy as np

solution = importlib.import_module("lessons.09_optimisers.solution")
adamw_step, clip_norm, learning_rate = solution.adamw_step, solution.clip_norm, solution.learning_rate
largest_rate = solution.largest_rate


def trust_adamw(adamw_step):
    rng = np.random.default_rng(0)
    w, m, v = rng.normal(size=4), np.zeros(4), np.zeros(4)
    for step in range(1, 4):
        g = rng.normal(size=4)
        right = solution.adamw_step(w, g, m, v, 0.1, step)
        got = adamw_step(w, g, m.copy(), v, 0.1, step)
        if not all(np.allclose(a, b) for a, b in zip(got, right, strict=True)):
            return False
        w, m, v = right
    return True
