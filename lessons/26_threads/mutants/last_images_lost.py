"""Pieces of B // pieces images each: those left over at the end are never seen."""

import importlib

solution = importlib.import_module("lessons.26_threads.solution")
gradients_for_any_threads = solution.gradients_for_any_threads
trust_gradients = solution.trust_gradients


def gradients_on_threads(config, params, images, labels, pieces, threads):
    seen = len(images) // pieces * pieces
    return solution.gradients_on_threads(config, params, images[:seen], labels[:seen], pieces, threads)
