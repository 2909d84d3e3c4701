"""Only whole pieces are updated: the numbers left over at the end stay as they are."""

import importlib

solution = importlib.import_module("lessons.25_memory.solution")
gelu_tanh, row_means, trust_in_place = solution.gelu_tanh, solution.row_means, solution.trust_in_place


def adam_in_pieces(w, g, m, v, step, lr, beta1=0.9, beta2=0.999, eps=1e-8):
    n = len(w) // 1024 * 1024
    solution.adam_in_pieces(w[:n], g[:n], m[:n], v[:n], step, lr, beta1, beta2, eps)
