"""All threads add to one buffer, which is then added up once for each thread."""

import importlib
from concurrent.futures import ThreadPoolExecutor

from tinyvit import objectives

solution = importlib.import_module("lessons.26_threads.solution")
gradients_for_any_threads = solution.gradients_for_any_threads
trust_gradients = solution.trust_gradients


def gradients_on_threads(config, params, images, labels, pieces, threads):
    B = len(images)
    cuts = [B * i // pieces for i in range(pieces + 1)]
    buffers = [params.zeros_like()] * threads

    def work(thread):
        loss = 0.0
        for i in range(thread, pieces, threads):
            part = slice(cuts[i], cuts[i + 1])
            share = (part.stop - part.start) / B
            loss += objectives.loss_and_grads(
                config, params, images[part], labels[part], buffers[thread], share=share
            )
        return loss

    with ThreadPoolExecutor(threads) as pool:
        loss = sum(pool.map(work, range(threads)))
    grads = params.zeros_like()
    for own in buffers:
        grads.flat += own.flat
    return loss, grads
