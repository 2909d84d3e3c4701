"""A ring, its cost, and a step whose optimiser is shared out."""

import math

import numpy as np

from tinyvit import objectives
from tinyvit.gradcheck import random_params
from tinyvit.model import ViTConfig
from tinyvit.support.distributed import parts

__all__ = ["all_gather", "bucket_times", "fastest_ranks", "reduce_scatter", "sharded_step", "trust_step"]


def reduce_scatter(flat, port):
    """A part starts at the rank after its owner, grows at every rank, and ends at its owner."""
    cuts = parts(flat.size, port.size)
    for turn in range(1, port.size):
        port.send(flat[cuts[(port.rank - turn) % port.size]])
        flat[cuts[(port.rank - turn - 1) % port.size]] += port.receive()


def all_gather(flat, port):
    """A part starts at its owner, and is handed on by everyone but the last."""
    cuts = parts(flat.size, port.size)
    for turn in range(port.size - 1):
        port.send(flat[cuts[(port.rank - turn) % port.size]])
        flat[cuts[(port.rank - turn - 1) % port.size]] = port.receive()


def _ring_seconds(size, ranks, network):
    """Equation 2."""
    return 2 * (ranks - 1) * (network.latency + size / (ranks * network.bandwidth))


def fastest_ranks(images, image_seconds, size, network, most):
    """Every number is tried; min keeps the first of equals."""
    seconds = {
        ranks: math.ceil(images / ranks) * image_seconds + _ring_seconds(size, ranks, network)
        for ranks in range(1, most + 1)
    }
    ranks = min(seconds, key=seconds.get)
    return ranks, seconds[ranks]


def bucket_times(layers, limit, ranks, network):
    """Two clocks: that of the backward, and the time from which the network is free."""
    clock = free = 0.0
    held, times = 0, []
    for number, (seconds, size) in reversed(list(enumerate(layers))):
        clock += seconds
        held += size
        if held and (held >= limit or number == 0):
            begin = max(clock, free)
            free = begin + _ring_seconds(held, ranks, network)
            times.append((begin, free))
            held = 0
    return np.array(times).reshape(-1, 2)


def trust_step(step):
    """Batches that do and do not divide, fewer images than ranks, and norms above and below the limit."""
    config = ViTConfig(8, patch_size=4, width=6, mlp_width=7, heads=2, layers=1, classes=3)
    rng = np.random.default_rng(0)
    params = random_params(config, rng)
    for count, ranks, factor in ((6, 3, 5.0), (7, 3, 5.0), (7, 3, 0.3), (2, 3, 5.0), (5, 1, 0.7)):
        images, labels = rng.normal(size=(count, 8, 8, 3)), rng.integers(0, 3, count)
        grads = params.zeros_like()
        objectives.loss_and_grads(config, params, images, labels, grads)
        g, norm = grads.flat, np.linalg.norm(grads.flat)
        expected = params.flat - 0.4 * g * min(1.0, factor)
        given = [array.copy() for array in (params.flat, images, labels)]
        found = step(config, params, images, labels, ranks, 0.4, factor * norm)
        if not all(map(np.array_equal, given, (params.flat, images, labels))):
            return False
        if len(found) != ranks or not all(np.allclose(w, expected, rtol=0, atol=1e-9) for w in found):
            return False
    return True


def sharded_step(w, g, largest, update, port):
    """Each rank knows the sum of its part's squares; a sum over ranks of one number gives the norm."""
    reduce_scatter(g, port)
    own = parts(w.size, port.size)[port.rank]
    squares = np.array([np.sum(g[own] * g[own])])
    reduce_scatter(squares, port)
    all_gather(squares, port)
    norm = math.sqrt(squares[0])
    if norm > largest:
        g[own] *= largest / norm
    update(w[own], g[own])
    all_gather(w, port)
