"""Steps are taken to be counted from 0: the first step does nothing at all."""

import importlib

solution = importlib.import_module("lessons.09_optimisers.solution")
adamw_step, clip_norm = solution.adamw_step, solution.clip_norm
trust_adamw, largest_rate = solution.trust_adamw, solution.largest_rate


def learning_rate(step, total, peak, warmup, decay="cosine"):
    if step <= warmup:
        return peak * (step - 1) / warmup
    return solution.learning_rate(step, total, peak, warmup, decay)
