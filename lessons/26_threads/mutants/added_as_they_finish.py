"""The gradients are added in the order in which the threads finish."""

import importlib
from concurrent.futures import ThreadPoolExecutor, as_completed

from tinyvit import objectives

solution = importlib.import_module("lessons.26_threads.solution")
gradients_for_any_threads = solution.gradients_for_any_threads
trust_gradients = solution.trust_gradients


def gradients_on_threads(config, params, images, labels, pieces, threads):
    B = len(images)
    cuts = [B * i // pieces for i in range(pieces + 1)]

    def work(piece):
        own, part = params.zeros_like(), slice(cuts[piece], cuts[piece + 1])
        share = (part.stop - part.start) / B
        return objectives.loss_and_grads(config, params, images[part], labels[part], own, share=share), own

    loss, grads = 0.0, params.zeros_like()
    with ThreadPoolExecutor(threads) as pool:
        for done in as_completed([pool.submit(work, piece) for piece in range(pieces)]):
            part_loss, own = done.result()
            loss += part_loss
            grads.flat += own.flat
    return loss, grads
