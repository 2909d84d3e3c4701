"""Timing one side, or several in alternation (A B A B), so that a drift in speed affects all alike."""

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from tinyvit.benchmark.case import Case
from tinyvit.benchmark.worker import Worker


@dataclass
class Timing:
    """Median seconds per step in each round of one side, and its peak memory in bytes (0: unknown)."""

    name: str
    seconds: list[float] = field(default_factory=list)
    peak_bytes: int = 0

    @property
    def median(self) -> float:
        return float(np.median(self.seconds))


def time_sides(
    case: Case, sides: Sequence[tuple[str, str]], rounds: int, steps: int, warm_up: int = 3
) -> list[Timing]:
    """Time the sides, given as (side, variant), in alternation: a warm-up, then `rounds` x `steps` steps."""
    workers = [Worker(case, side, variant) for side, variant in sides]
    timings = [Timing(worker.name) for worker in workers]
    try:
        for worker in workers:
            worker.run(warm_up)
        for _ in range(rounds):
            for worker, timing in zip(workers, timings, strict=True):
                seconds, timing.peak_bytes = worker.run(steps)
                timing.seconds.append(float(np.median(seconds)))
    finally:
        for worker in workers:
            worker.close()
    return timings


def ratios(fast: Timing, slow: Timing) -> np.ndarray:
    """How many times as fast the first side was as the second, for each pair of rounds: (rounds,)."""
    return np.array(slow.seconds) / np.array(fast.seconds)
