"""One table of results is kept for all calls and cleared by each."""

import importlib

solution = importlib.import_module("lessons.26_threads.solution")
gradients_for_any_threads = solution.gradients_for_any_threads
trust_gradients = solution.trust_gradients

kept = {}


def gradients_on_threads(config, params, images, labels, pieces, threads):
    loss, grads = solution.gradients_on_threads(config, params, images, labels, pieces, threads)
    table = kept.setdefault(params.flat.dtype, params.zeros_like())
    table.flat[...] = grads.flat
    return loss, table
