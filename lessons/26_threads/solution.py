"""The heart of CpuEngine, written out, and two relatives."""

from collections import deque
from concurrent.futures import ThreadPoolExecutor

import numpy as np

from tinyvit import objectives
from tinyvit.checking import random_params
from tinyvit.model import ViTConfig

__all__ = ["gradients_for_any_threads", "gradients_on_threads", "trust_gradients"]


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
        grads.flat += own.flat  # eq. 1
    return sum(loss for loss, _ in results), grads


def trust_gradients(gradients):
    """In float64 against the whole batch, for uneven pieces; in float32 for the same bits."""
    config = ViTConfig(8, patch_size=4, width=6, mlp_width=7, heads=2, layers=1, classes=3)
    rng = np.random.default_rng(0)
    wide = random_params(config, rng)
    for pieces, threads in ((1, 1), (3, 2), (8, 3), (9, 2), (2, 5)):
        images, labels = rng.normal(size=(9, 8, 8, 3)), rng.integers(0, 3, 9)
        given = [array.copy() for array in (wide.flat, images, labels)]
        expected = wide.zeros_like()
        right = objectives.loss_and_grads(config, wide, images, labels, expected)
        loss, table = gradients(config, wide, images, labels, pieces, threads)
        if abs(loss - right) > 1e-9 or np.abs(table.flat - expected.flat).max() > 1e-9:
            return False
        if not all(map(np.array_equal, given, (wide.flat, images, labels))):
            return False
    params, pixels = wide.astype("float32"), images.astype("float32")
    call = (config, params, pixels, labels, 8, 3)
    loss, table = gradients(*call)
    bits = table.flat.copy()
    gradients(config, params, pixels[::-1], labels, 8, 3)  # another batch
    if not np.array_equal(table.flat, bits):
        return False
    for _ in range(3):
        again, other = gradients(*call)
        if again != loss or not np.array_equal(other.flat, bits):
            return False
    return True


def gradients_for_any_threads(config, params, images, labels, pieces, threads):
    """Every piece has a table of its own, and they are added in the order of the pieces, as they come."""
    B, total, losses = len(images), params.zeros_like(), []
    waiting = deque()  # the oldest piece first

    def work(first, stop):
        own = params.zeros_like()
        part = slice(first, stop)
        share = (stop - first) / B
        return objectives.loss_and_grads(
            config, params, images[part], labels[part], own, share=share
        ), own.flat

    def collect():
        loss, own = waiting.popleft().result()
        losses.append(loss)
        np.add(total.flat, own, out=total.flat)

    with ThreadPoolExecutor(threads) as pool:
        for i in range(pieces):
            if len(waiting) == threads:
                collect()  # wait for the oldest before a new one begins: so many tables and no more
            waiting.append(pool.submit(work, B * i // pieces, B * (i + 1) // pieces))
        while waiting:
            collect()
    return sum(losses), total
