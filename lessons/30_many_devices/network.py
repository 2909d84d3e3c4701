"""The time of a training step on R ranks that sum their gradients around a ring: a simulation.

Each rank computes its own gradients, of S bytes in all, and cuts them into R parts. In each of 2 (R - 1)
turns it sends one part to the next rank and receives one from the rank before (Patarasuk and Yuan 2009):
R - 1 turns in which the sums grow, and R - 1 in which they are handed on. If all are equally fast,

    step = compute + 2 (R - 1) (latency + S / (R bandwidth))                  (2) in the lesson

Each rank sends 2 S (R - 1) / R bytes, less than 2 S however many ranks there are; what grows is the number of
latencies. And nobody is always equally fast: a rank begins a turn only when the rank before has finished its
last, so the slowest rank of each step delays all (stragglers). The simulation draws the time of each
computation and each message, and follows every rank through every turn.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

RANKS = (2, 4, 8, 16, 32, 64, 128, 256, 512, 1024)


@dataclass(frozen=True)
class Network:
    """The cost of a message between two ranks: latency in seconds, bandwidth in bytes per second.

    spread is the standard deviation of times, of messages as of computations, relative to their mean.
    """

    latency: float
    bandwidth: float
    spread: float = 0.0


ETHERNET = Network(50e-6, 1e9, 0.05)  # 8 of 10 Gbit/s, and machines that do little else


def sent_bytes(ranks: int, size: int) -> float:
    """Number of bytes that each rank sends in a step, for gradients of `size` bytes."""
    return 2 * size * (ranks - 1) / ranks


def without_stragglers(ranks: int, size: int, compute: float, network: Network) -> float:
    """Seconds of a step, its exchange by equation 2, for gradients of `size` bytes."""
    message = network.latency + size / ranks / network.bandwidth
    return compute + 2 * (ranks - 1) * message


def simulate(
    ranks: int, size: int, compute: float, network: Network, steps: int = 10, seed: int = 0
) -> float:
    """Mean seconds of a step, for gradients of `size` bytes that one rank computes in `compute` seconds.

    A rank goes on to the next step as soon as its own ring is finished, and does not wait for the others.
    """
    rng = np.random.default_rng(seed)
    message = network.latency + size / ranks / network.bandwidth
    clock = np.zeros(ranks)  # when each rank has finished what it has done so far
    for _ in range(steps):
        clock += _times(rng, compute, network.spread, ranks)
        for _ in range(2 * (ranks - 1)):
            clock = np.maximum(clock, np.roll(clock, 1)) + _times(rng, message, network.spread, ranks)
    return float(clock.max()) / steps


def _times(rng: np.random.Generator, mean: float, spread: float, count: int) -> np.ndarray:
    """Times (count,) with this mean and relative spread, log-normal: never negative, now and then long."""
    if not spread:
        return np.full(count, mean)
    variance = np.log1p(spread * spread)
    return mean * rng.lognormal(-variance / 2, np.sqrt(variance), count)
