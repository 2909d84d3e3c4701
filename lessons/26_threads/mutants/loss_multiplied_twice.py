"""The loss of a piece, multiplied by its share already, is multiplied by it once more."""

import importlib

solution = importlib.import_module("lessons.26_threads.solution")
gradients_for_any_threads = solution.gradients_for_any_threads
trust_gradients = solution.trust_gradients


def gradients_on_threads(config, params, images, labels, pieces, threads):
    loss, grads = solution.gradients_on_threads(config, params, images, labels, pieces, threads)
    return loss / pieces, grads
