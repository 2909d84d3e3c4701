"""Right, but the tables of all pieces are collected before the first is added."""

import importlib
from concurrent.futures import ThreadPoolExecutor

solution = importlib.import_module("lessons.26_threads.solution")
gradients_on_threads, trust_gradients = solution.gradients_on_threads, solution.trust_gradients


def gradients_for_any_threads(config, params, images, labels, pieces, threads):
    B = len(images)
    objectives = solution.objectives

    def work(i):
        own, part = params.zeros_like(), slice(B * i // pieces, B * (i + 1) // pieces)
        share = (part.stop - part.start) / B
        return objectives.loss_and_grads(config, params, images[part], labels[part], own, share=share), own

    with ThreadPoolExecutor(threads) as pool:
        results = list(pool.map(work, range(pieces)))
    grads = params.zeros_like()
    for _, own in results:
        grads.flat += own.flat
    return sum(loss for loss, _ in results), grads
