"""Every piece counts as if it were the whole batch."""

import importlib
from concurrent.futures import ThreadPoolExecutor

from tinyvit import objectives

solution = importlib.import_module("lessons.26_threads.solution")
gradients_for_any_threads = solution.gradients_for_any_threads
trust_gradients = solution.trust_gradients


def gradients_on_threads(config, params, images, labels, pieces, threads):
    cuts = [len(images) * i // pieces for i in range(pieces + 1)]

    def work(piece):
        own, part = params.zeros_like(), slice(cuts[piece], cuts[piece + 1])
        return objectives.loss_and_grads(config, params, images[part], labels[part], own), own

    with ThreadPoolExecutor(threads) as pool:
        results = list(pool.map(work, range(pieces)))
    grads = params.zeros_like()
    for _, own in results:
        grads.flat += own.flat
    return sum(loss for loss, _ in results), grads
