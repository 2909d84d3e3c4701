"""As many threads as pieces, whatever was asked for."""

import importlib

solution = importlib.import_module("lessons.26_threads.solution")
gradients_for_any_threads = solution.gradients_for_any_threads
trust_gradients = solution.trust_gradients


def gradients_on_threads(config, params, images, labels, pieces, threads):
    return solution.gradients_on_threads(config, params, images, labels, pieces, pieces)
