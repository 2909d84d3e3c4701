"""As many tables as threads, but any thread takes the next piece: two may add to one table at a time."""

import importlib
from concurrent.futures import ThreadPoolExecutor

from tinyvit import objectives

solution = importlib.import_module("lessons.26_threads.solution")
gradients_for_any_threads = solution.gradients_for_any_threads
trust_gradients = solution.trust_gradients


def gradients_on_threads(config, params, images, labels, pieces, threads):
    B = len(images)
    cuts = [B * i // pieces for i in range(pieces + 1)]
    tables = [params.zeros_like() for _ in range(threads)]

    def work(piece):
        part = slice(cuts[piece], cuts[piece + 1])
        share = (part.stop - part.start) / B
        own = tables[piece % threads]
        return objectives.loss_and_grads(config, params, images[part], labels[part], own, share=share)

    with ThreadPoolExecutor(threads) as pool:
        loss = sum(pool.map(work, range(pieces)))
    grads = params.zeros_like()
    for own in tables:
        grads.flat += own.flat
    return loss, grads
