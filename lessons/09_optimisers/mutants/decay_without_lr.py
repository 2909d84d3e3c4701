"""The decay is not multiplied by the learning rate."""

import importlib

solution = importlib.import_module("lessons.09_optimisers.solution")
clip_norm, learning_rate = solution.clip_norm, solution.learning_rate
trust_adamw, largest_rate = solution.trust_adamw, solution.largest_rate


def adamw_step(w, g, m, v, lr, step, betas=(0.9, 0.999), eps=1e-8, weight_decay=0.0):
    return solution.adamw_step(w - weight_decay * w, g, m, v, lr, step, betas, eps)
