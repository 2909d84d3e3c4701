"""Every call gets labels and parameters of its own, and nobody looks whether it has changed them."""

import importlib

solution = importlib.import_module("lessons.26_threads.solution")
gradients_on_threads = solution.gradients_on_threads
gradients_for_any_threads = solution.gradients_for_any_threads


def trust_gradients(gradients):
    def on_copies(config, params, images, labels, pieces, threads):
        own = params.astype(params.flat.dtype)
        return gradients(config, own, images, labels.copy(), pieces, threads)

    return solution.trust_gradients(on_copies)
