"""The pieces of a thread are added up first: other bits on other numbers of threads."""

import importlib

solution = importlib.import_module("lessons.26_threads.solution")
gradients_on_threads, trust_gradients = solution.gradients_on_threads, solution.trust_gradients


def gradients_for_any_threads(config, params, images, labels, pieces, threads):
    return solution.gradients_on_threads(config, params, images, labels, pieces, threads)
