"""row_means is the library's own; GELU without a cache and the heart of CpuEngine are written out here."""

import math
from concurrent.futures import ThreadPoolExecutor

import numpy as np

from tinyvit import objectives
from tinyvit.ops.layer_norm import row_means

__all__ = ["gelu_tanh", "gradients_on_threads", "row_means"]

SLOPE, CUBIC = 2 * math.sqrt(2 / math.pi), 0.044715  # 2u = SLOPE (x + CUBIC x^3)


def gelu_tanh(x):
    """GELU of x, tanh form: seven passes, all but the first in place."""
    y = x * x
    y *= -SLOPE * CUBIC
    y -= SLOPE
    y *= x  # -2u
    with np.errstate(over="ignore"):  # exp of a large number is inf, and x / inf the right 0
        np.exp(y, out=y)
    y += 1
    return np.divide(x, y, out=y)  # eq. 3


def gradients_on_threads(config, params, images, labels, pieces, threads):
    """Loss and gradients of the batch; thread t takes pieces t, t + threads, t + 2 threads, ..."""
    B = len(images)
    cuts = [B * i // pieces for i in range(pieces + 1)]
    parts = [slice(cuts[i], cuts[i + 1]) for i in range(pieces)]

    def work(thread):
        own, loss = params.zeros_like(), 0.0
        for part in parts[thread::threads]:
            share = (part.stop - part.start) / B
            loss += objectives.loss_and_grads(config, params, images[part], labels[part], own, share=share)
        return loss, own

    with ThreadPoolExecutor(threads) as pool:
        results = list(pool.map(work, range(threads)))  # in the order of the threads, not of finishing
    grads = params.zeros_like()
    for _, own in results:
        grads.flat += own.flat  # eq. 5
    return sum(loss for loss, _ in results), grads
